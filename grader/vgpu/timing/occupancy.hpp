// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many blocks of a kernel an SM holds at once, and which resource sets the limit.
/// Place in the chain: machine, the launch -> [occupancy] -> model, runtime, reports.
/// Source: the rules of the CUDA programming guide's hardware chapter and the toolkit's occupancy
/// calculator. Left out: block clusters.
#pragma once

#include <cstdint>
#include <string_view>

#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::timing {

/// What a block asks of its SM.
struct BlockNeeds {
  std::uint32_t threads = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;  ///< static and dynamic, without what the system reserves
};

/// The resource that runs out first. kNothing: not even one block fits.
enum class Limiter { kThreads, kRegisters, kSharedMemory, kBlocks, kNothing };

/// "threads", "registers", "shared memory", "blocks" or "nothing fits".
[[nodiscard]] std::string_view to_string(Limiter limiter);

/// Blocks an SM holds, by each resource alone and together.
struct Occupancy {
  std::uint32_t blocks = 0;
  std::uint32_t by_threads = 0;
  std::uint32_t by_registers = 0;
  std::uint32_t by_shared = 0;
  std::uint32_t by_blocks = 0;
  /// As long as blocks have warps that left, no more than these: of its L1 an SM makes as much
  /// shared memory as `blocks` of them want, not all it could.
  std::uint32_t held_by_shared = 0;
  Limiter limiter = Limiter::kNothing;
  double share = 0;  ///< resident warps over the most an SM holds: 0 … 1
};

/// Registers are given to a warp in units of 256 and each of an SM's four parts has its own; shared
/// memory in units of machine.shared_unit_bytes; warps whole.
[[nodiscard]] Occupancy occupancy_of(const Machine& machine, const BlockNeeds& needs);

}  // namespace membound::vgpu::timing
