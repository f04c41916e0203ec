// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/line_table.hpp"

#include <algorithm>
#include <string_view>

#include "grader/device_code/fatbin/bytes.hpp"

namespace membound::fatbin {
namespace {

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

}  // namespace

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

std::uint32_t line_at(const std::vector<CodeLine>& rows, std::uint64_t offset_bytes) {
  const auto after = std::ranges::upper_bound(rows, offset_bytes, {}, &CodeLine::offset_bytes);
  return after == rows.begin() ? 0 : std::prev(after)->ptx_line;
}

}  // namespace membound::fatbin
