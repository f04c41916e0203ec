// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which loads and stores a cubin's machine code has: of which memory, how wide, in which loops,
/// and from which line of the PTX. Source: the few opcodes that access memory, as nvdisasm prints
/// them for sm_75 to sm_90 (compiled_test.cpp holds them against it).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::fatbin {

/// What an instruction of machine code does to memory.
enum class MachineAccess : std::uint8_t { kLoad, kStore, kAtomic, kCopy };
/// Which memory its opcode is for.
enum class MachineSpace : std::uint8_t { kGeneric, kGlobal, kShared, kLocal };

/// One instruction that accesses memory.
struct MachineMemory {
  MachineAccess access = MachineAccess::kLoad;
  MachineSpace space = MachineSpace::kGeneric;
  std::uint8_t lane_bytes = 0;  ///< of a load, a store or a copy; 0 for atomics
  bool guarded = false;         ///< by a predicate
  std::uint32_t offset_bytes = 0;
  std::uint32_t ptx_line = 0;  ///< 0: not known
  friend bool operator==(const MachineMemory&, const MachineMemory&) = default;
};

/// Code between a branch back and its target, both included.
struct MachineLoop {
  std::uint32_t begin_bytes = 0, end_bytes = 0;
  std::uint32_t ptx_line = 0;  ///< of the branch
  friend bool operator==(const MachineLoop&, const MachineLoop&) = default;
};

/// One function's machine code, with what was put into it.
struct MachineFunction {
  std::string name = {};   ///< mangled
  bool has_lines = false;  ///< whether the cubin says from which lines of the PTX it was made
  std::vector<MachineMemory> accesses = {};
  std::vector<MachineLoop> loops = {};
};

/// Bytes of one instruction.
inline constexpr std::size_t kInstructionBytes = 16;

/// What the instruction with these two words does to memory; nothing where it does not access any.
[[nodiscard]] std::optional<MachineMemory> memory_access(std::uint64_t low, std::uint64_t high);

/// Where the branch with these two words goes, in bytes from the next instruction; nothing where it
/// is no branch to a fixed place.
[[nodiscard]] std::optional<std::int64_t> branch_distance(std::uint64_t low, std::uint64_t high);

/// Every function of a cubin; none where its architecture has other instructions than we know.
[[nodiscard]] base::Result<std::vector<MachineFunction>> read_machine_code(
    std::span<const std::byte> bytes, std::string_view where = "cubin");

}  // namespace membound::fatbin
