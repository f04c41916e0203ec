// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What became of loads and stores of shared memory in the machine code. ptxas makes one of several
/// that access neighbouring words, and drops loads whose value a register already holds and stores
/// that another overwrites; a profiler counts what is left. Where the machine code says from which
/// line of the PTX each of its accesses was made, that is read there; where it does not, what
/// mark_vectors (ptxas/passes.hpp) expects is held against how many loads of each width there are.
/// A function with an access that ptxas moves out of a loop, or makes of different iterations of
/// one, is counted as its PTX has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "grader/vgpu/program/module.hpp"

namespace membound::vgpu::program {

/// Instruction::issued_bytes of an access that is as the PTX has it, and of one that is not there.
inline constexpr std::uint8_t kAsWritten = 0;
inline constexpr std::uint8_t kNotIssued = 0xFF;

/// One load or store of shared memory in the machine code.
struct SharedAccess {
  std::uint32_t ptx_line = 0;
  std::uint8_t lane_bytes = 0;
  std::vector<std::uint32_t> loop_lines = {};  ///< of the PTX: the branches back of loops around it
  bool is_store = false;
};

/// A kernel's or function's machine code.
struct MachineCode {
  std::string function = {};  ///< mangled
  bool has_lines = false;
  std::vector<SharedAccess> shared_accesses = {};
  std::vector<std::uint32_t> loop_lines = {};  ///< of every branch back
};

/// Sets `issued_bytes` of the accesses, and `accesses_from`, of the functions of one PTX module
/// that `code` was made from; `names` are all of that module.
void take_machine_accesses(Program& program, std::span<const std::string_view> names,
                           std::span<const MachineCode> code);

/// Where what is counted of the shared accesses of `kernel`, and of all it may call, comes from;
/// nothing where they have none.
[[nodiscard]] std::optional<AccessesFrom> shared_accesses_from(const Program& program,
                                                               const Kernel& kernel);

}  // namespace membound::vgpu::program
