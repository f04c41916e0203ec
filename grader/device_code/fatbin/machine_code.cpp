// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/device_code/fatbin/machine_code.hpp"

#include <array>

#include "grader/device_code/fatbin/bytes.hpp"
#include "grader/device_code/fatbin/cubin.hpp"
#include "grader/device_code/fatbin/elf_file.hpp"
#include "grader/device_code/fatbin/line_table.hpp"

namespace membound::fatbin {
namespace {

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
