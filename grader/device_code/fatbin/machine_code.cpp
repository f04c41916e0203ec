// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Opcodes that access memory, and the line table that says from which line of the PTX machine code
/// was made. Source: DWARF 2, section 6.2 (line number programs); `-lineinfo` makes ptxas write one
/// for the PTX, `.nv_debug_line_sass` (found in cubins of nvcc 13.0, checked against `nvdisasm
/// -gp`).
#include "grader/device_code/fatbin/machine_code.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "grader/device_code/fatbin/cubin.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"

namespace membound::fatbin {
namespace {

/// The code from `offset_bytes` of its section up to the next row comes from this line.
struct CodeLine {
  std::uint64_t offset_bytes = 0;
  std::uint32_t ptx_line = 0;  ///< 0: from none
  friend bool operator==(const CodeLine&, const CodeLine&) = default;
};

constexpr std::string_view kTable = ".nv_debug_line_sass";

/// The standard opcodes of DWARF 2, and the first of the extended ones.
enum Opcode : std::uint8_t {
  kExtended = 0,
  kCopy = 1,
  kAdvanceAddress = 2,
  kAdvanceLine = 3,
  kConstantAdd = 8,
  kFixedAdvance = 9,
};
enum ExtendedOpcode : std::uint8_t { kEndSequence = 1, kSetAddress = 2 };

/// Reads on from byte to byte; at the end of its bytes everything is 0.
class Cursor {
 public:
  explicit Cursor(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] bool at_end() const { return at_ >= bytes_.size(); }
  [[nodiscard]] std::size_t at() const { return at_; }
  void move_to(std::size_t at) { at_ = std::min(at, bytes_.size()); }
  template <typename T>
  T take() {
    const T value = read_at<T>(bytes_, at_);
    move_to(at_ + sizeof(T));
    return value;
  }
  std::uint64_t take_unsigned() { return take_leb().value; }
  std::int64_t take_signed() {
    const Leb leb = take_leb();
    const bool negative = leb.bits > 0 && leb.bits < 64 && (leb.value >> (leb.bits - 1) & 1) != 0;
    return static_cast<std::int64_t>(negative ? leb.value | ~std::uint64_t{0} << leb.bits
                                              : leb.value);
  }

 private:
  struct Leb {
    std::uint64_t value = 0;
    std::uint32_t bits = 0;
  };
  Leb take_leb() {
    Leb leb;
    while (!at_end()) {
      const auto byte = take<std::uint8_t>();
      if (leb.bits < 64) leb.value |= std::uint64_t{byte & 0x7Fu} << leb.bits;
      leb.bits += 7;
      if ((byte & 0x80) == 0) break;
    }
    return leb;
  }

  Bytes bytes_;
  std::size_t at_ = 0;
};

/// By place in the table: the section whose address belongs there.
std::map<std::uint64_t, std::uint32_t> addressed_sections(const ElfFile& file, std::size_t table) {
  std::map<std::uint64_t, std::uint32_t> found;
  for (const ElfSection& section : file.sections) {
    const bool addends = section.header.sh_type == SHT_RELA;
    if (!addends && section.header.sh_type != SHT_REL) continue;
    if (section.header.sh_info != table || section.header.sh_link >= file.sections.size()) continue;
    const Bytes symbols = file.sections[section.header.sh_link].content;
    const std::size_t step = addends ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (std::size_t at = 0; has(section.content, at, step); at += step) {
      const auto entry = read_at<Elf64_Rel>(section.content, at);
      const auto symbol =
          read_at<Elf64_Sym>(symbols, ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym));
      found[entry.r_offset] = symbol.st_shndx;
    }
  }
  return found;
}

/// Runs one line number program.
class LineProgram {
 public:
  using Rows = std::map<std::uint32_t, std::vector<CodeLine>>;
  LineProgram(Cursor& in, std::size_t end, const std::map<std::uint64_t, std::uint32_t>& sections,
              Rows& rows)
      : in_(in), end_(end), sections_(sections), rows_(rows) {}

  void run() {
    if (in_.take<std::uint16_t>() != 2) return;  // another DWARF
    const auto header_bytes = in_.take<std::uint32_t>();
    const std::size_t first = in_.at() + header_bytes;
    least_advance_ = in_.take<std::uint8_t>();
    in_.take<std::uint8_t>();  // whether lines begin as statements
    line_base_ = in_.take<std::int8_t>();
    line_range_ = in_.take<std::uint8_t>();
    opcode_base_ = in_.take<std::uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) return;
    for (std::uint8_t i = 1; i < opcode_base_; ++i) lengths_.push_back(in_.take<std::uint8_t>());
    in_.move_to(std::min(first, end_));
    while (in_.at() < end_ && !in_.at_end()) step();
  }

 private:
  void step() {
    const auto opcode = in_.take<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const std::uint32_t both = opcode - opcode_base_;
      advance(both / line_range_);
      line_ += line_base_ + static_cast<std::int64_t>(both % line_range_);
      add_row();
      return;
    }
    switch (opcode) {
      case kExtended:
        return extended();
      case kCopy:
        return add_row();
      case kAdvanceAddress:
        return advance(in_.take_unsigned());
      case kAdvanceLine:
        line_ += in_.take_signed();
        return;
      case kConstantAdd:
        return advance((255u - opcode_base_) / line_range_);
      case kFixedAdvance:
        address_ += in_.take<std::uint16_t>();
        return;
      default:  // file, column and their like
        for (std::uint8_t i = 0; i < lengths_[opcode - 1u]; ++i) in_.take_unsigned();
    }
  }

  void extended() {
    const std::uint64_t bytes = in_.take_unsigned();
    const std::size_t begin = in_.at();
    const auto opcode = in_.take<std::uint8_t>();
    if (opcode == kSetAddress) {
      const auto section = sections_.find(in_.at());
      section_ = section == sections_.end() ? 0 : section->second;
      address_ = in_.take<std::uint64_t>();
    } else if (opcode == kEndSequence) {
      section_ = 0;
      address_ = 0;
      line_ = 1;
    }
    in_.move_to(bytes > end_ - begin ? end_ : begin + bytes);
  }

  void advance(std::uint64_t count) { address_ += count * least_advance_; }
  void add_row() {
    if (section_ != 0 && line_ >= 0 && line_ <= 0x7FFFFFFF)
      rows_[section_].push_back({address_, static_cast<std::uint32_t>(line_)});
  }

  Cursor& in_;
  std::size_t end_;
  const std::map<std::uint64_t, std::uint32_t>& sections_;
  Rows& rows_;
  std::vector<std::uint8_t> lengths_;  ///< operands of each standard opcode
  std::uint8_t least_advance_ = 1, line_range_ = 1, opcode_base_ = 1;
  std::int64_t line_base_ = 0, line_ = 1;
  std::uint64_t address_ = 0;
  std::uint32_t section_ = 0;  ///< 0: not known
};

/// By number of the section of machine code: its rows, sorted by offset. Empty where the cubin has
/// no such table; a damaged one ends where it is damaged.
std::map<std::uint32_t, std::vector<CodeLine>> ptx_lines(const ElfFile& file) {
  LineProgram::Rows rows;
  for (std::size_t i = 0; i < file.sections.size(); ++i) {
    if (file.sections[i].name != kTable) continue;
    const auto sections = addressed_sections(file, i);
    Cursor in(file.sections[i].content);
    while (!in.at_end()) {
      const auto bytes = in.take<std::uint32_t>();
      const std::size_t end =
          std::min<std::size_t>(file.sections[i].content.size(), in.at() + bytes);
      LineProgram(in, end, sections, rows).run();
      in.move_to(end);
    }
  }
  for (auto& [section, of] : rows) std::ranges::stable_sort(of, {}, &CodeLine::offset_bytes);
  return rows;
}

/// The line that the code at `offset_bytes` comes from; 0: none.
std::uint32_t line_at(const std::vector<CodeLine>& rows, std::uint64_t offset_bytes) {
  const auto after = std::ranges::upper_bound(rows, offset_bytes, {}, &CodeLine::offset_bytes);
  return after == rows.begin() ? 0 : std::prev(after)->ptx_line;
}

constexpr std::string_view kCodePrefix = ".text.";
/// Architectures whose instructions have 128 bits and the opcodes below.
constexpr std::uint32_t kFirstArch = 75, kLastArch = 90;

/// Bits 0 to 11. An operation has one number for each kind of operand that it takes.
struct OpcodeRow {
  std::uint16_t opcode;
  MachineAccess access;
  MachineSpace space;
};
constexpr std::array kOpcodes = std::to_array<OpcodeRow>({
    {0x980, MachineAccess::kLoad, MachineSpace::kGeneric},    // LD
    {0x981, MachineAccess::kLoad, MachineSpace::kGlobal},     // LDG
    {0x983, MachineAccess::kLoad, MachineSpace::kLocal},      // LDL
    {0x984, MachineAccess::kLoad, MachineSpace::kShared},     // LDS
    {0x385, MachineAccess::kStore, MachineSpace::kGeneric},   // ST
    {0x985, MachineAccess::kStore, MachineSpace::kGeneric},   //
    {0x386, MachineAccess::kStore, MachineSpace::kGlobal},    // STG
    {0x986, MachineAccess::kStore, MachineSpace::kGlobal},    //
    {0x387, MachineAccess::kStore, MachineSpace::kLocal},     // STL
    {0x987, MachineAccess::kStore, MachineSpace::kLocal},     //
    {0x388, MachineAccess::kStore, MachineSpace::kShared},    // STS
    {0x988, MachineAccess::kStore, MachineSpace::kShared},    //
    {0x38a, MachineAccess::kAtomic, MachineSpace::kGeneric},  // ATOM
    {0x98a, MachineAccess::kAtomic, MachineSpace::kGeneric},  //
    {0x9a2, MachineAccess::kAtomic, MachineSpace::kGeneric},  //
    {0x38b, MachineAccess::kAtomic, MachineSpace::kGeneric},  // ATOM.CAS
    {0x3a8, MachineAccess::kAtomic, MachineSpace::kGlobal},   // ATOMG
    {0x9a8, MachineAccess::kAtomic, MachineSpace::kGlobal},   //
    {0x9a3, MachineAccess::kAtomic, MachineSpace::kGlobal},   // ATOMG, of floats
    {0x3a9, MachineAccess::kAtomic, MachineSpace::kGlobal},   // ATOMG.CAS
    {0x98e, MachineAccess::kAtomic, MachineSpace::kGlobal},   // RED
    {0x9a6, MachineAccess::kAtomic, MachineSpace::kGlobal},   // RED, of floats
    {0x38c, MachineAccess::kAtomic, MachineSpace::kShared},   // ATOMS
    {0x98c, MachineAccess::kAtomic, MachineSpace::kShared},   //
    {0xf8c, MachineAccess::kAtomic, MachineSpace::kShared},   // ATOMS.POPC.INC
    {0x38d, MachineAccess::kAtomic, MachineSpace::kShared},   // ATOMS.CAS
    {0xfae, MachineAccess::kCopy, MachineSpace::kShared},     // LDGSTS
});
constexpr std::uint64_t kBranch = 0x947;  // BRA
constexpr std::uint64_t kAlways = 7;      // the predicate that always holds
/// By bits 73 to 75: U8, S8, U16, S16, 32, 64, 128.
constexpr std::array<std::uint8_t, 8> kWidths = {1, 1, 2, 2, 4, 8, 16, 0};

std::uint64_t opcode_of(std::uint64_t low) { return low & 0xFFF; }

/// One section of machine code.
MachineFunction read_function(std::string_view name, Bytes code,
                              const std::vector<CodeLine>& lines) {
  MachineFunction function;
  function.name = name;
  function.has_lines = !lines.empty();
  for (std::size_t at = 0; has(code, at, kInstructionBytes); at += kInstructionBytes) {
    const auto low = read_at<std::uint64_t>(code, at);
    const auto high = read_at<std::uint64_t>(code, at + 8);
    const auto here = static_cast<std::uint32_t>(at);
    if (auto access = memory_access(low, high)) {
      access->offset_bytes = here;
      access->ptx_line = line_at(lines, at);
      function.accesses.push_back(*access);
    } else if (const auto distance = branch_distance(low, high)) {
      const std::int64_t target = std::int64_t{here} + std::int64_t{kInstructionBytes} + *distance;
      // A branch to itself fills the end of a section.
      if (target >= 0 && target < here)
        function.loops.push_back({static_cast<std::uint32_t>(target), here, line_at(lines, at)});
    }
  }
  return function;
}

}  // namespace

std::optional<MachineMemory> memory_access(std::uint64_t low, std::uint64_t high) {
  for (const OpcodeRow& row : kOpcodes) {
    if (row.opcode != opcode_of(low)) continue;
    MachineMemory memory{.access = row.access, .space = row.space};
    memory.guarded = (low >> 12 & 0xF) != kAlways;
    if (row.access != MachineAccess::kAtomic) memory.lane_bytes = kWidths[high >> 9 & 7];
    return memory;
  }
  return std::nullopt;
}

std::optional<std::int64_t> branch_distance(std::uint64_t low, std::uint64_t high) {
  if (opcode_of(low) != kBranch) return std::nullopt;
  // Bits 16 to 23, then 34 to 81: words of 4 bytes.
  const std::uint64_t words = (low >> 16 & 0xFF) | low >> 34 << 8 | (high & 0x3FFFF) << 38;
  return static_cast<std::int64_t>(words << 8) >> 8 << 2;
}

base::Result<std::vector<MachineFunction>> read_machine_code(Bytes bytes, std::string_view where) {
  const auto arch = cubin_arch(bytes, where);
  if (!arch) return arch.error();
  std::vector<MachineFunction> functions;
  if (*arch < kFirstArch || *arch > kLastArch) return functions;
  ElfFault fault{};
  const auto file = read_elf(bytes, fault);
  if (!file) return functions;
  const auto lines = ptx_lines(*file);
  for (std::uint32_t i = 0; i < file->sections.size(); ++i) {
    const ElfSection& section = file->sections[i];
    if (!section.name.starts_with(kCodePrefix)) continue;
    const auto of = lines.find(i);
    functions.push_back(read_function(section.name.substr(kCodePrefix.size()), section.content,
                                      of == lines.end() ? std::vector<CodeLine>{} : of->second));
  }
  return functions;
}

}  // namespace membound::fatbin
