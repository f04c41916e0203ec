// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many blocks of a kernel an SM holds at once, which resource sets the limit, and how long
/// each block stays: what it waits for. Source: the rules of the CUDA programming guide's hardware
/// chapter and the toolkit's occupancy calculator. Left out: block clusters.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/timing/block_scheduler.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::vgpu::timing {

/// Registers of a warp are given out in multiples of this.
inline constexpr std::uint32_t kRegisterUnit = 256;

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

/// What the launch's requests to memory cost on average.
struct Averages {
  double batch_ns = 0;       ///< a load batch
  double dram_batches = 0;   ///< the share of batches that wait for DRAM
  double shared_clocks = 0;  ///< a request to shared memory
  double rows_ns = 0;        ///< what a block waits longer for the last of several rows
};

[[nodiscard]] Averages averages(const Machine& m, const counters::Counters& c,
                                const counters::LaunchWork& work);

/// What a load batch waits longer for a DRAM that is busy for `dram_ns` of `ns`, where it writes as
/// well.
[[nodiscard]] double beside_writes_ns(const Machine& m, const counters::Counters& c,
                                      const Averages& mean, double dram_ns, double ns);

/// The residency of each kind of block of `warps` warps.
[[nodiscard]] std::vector<BlockResidency> residencies_of(const Machine& m,
                                                         const counters::LaunchWork& work,
                                                         const Averages& mean, double warps);

/// Blocks an SM holds of the kind whose blocks take the most time together. Warps that left make
/// room for those of another block, but registers and shared memory are a block's until its last
/// warp leaves.
[[nodiscard]] std::uint32_t slots_per_sm(const Machine& m, const Occupancy& occupancy,
                                         const counters::LaunchWork& work,
                                         const std::vector<BlockResidency>& residencies,
                                         double warps);

}  // namespace membound::vgpu::timing
