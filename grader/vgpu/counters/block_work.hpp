// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the blocks of a launch did, one by one: what the clock must know to tell who waits for
/// whom. Place in the chain: exec/critical_path/block_recorder fills it -> [block_work] -> timing's
/// model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace membound::vgpu::counters {

/// One block. A phase ends at a barrier of the whole block, or at the block's end; its slowest warp
/// is the one on its critical path. Large numbers keep six binary digits, so that blocks which
/// differ by a trifle are of one kind.
struct BlockWork {
  // On the critical path, summed over phases.
  std::uint64_t chain_clocks = 0;  ///< waiting for results other than those of global loads
  std::uint64_t load_rounds = 0;   ///< waits for global memory
  std::uint64_t shared_requests = 0;
  std::uint64_t barriers_after_loads = 0;  ///< ends of phases in which some warp loads
  std::uint64_t other_barriers = 0;
  // Of the warp that is the slowest from the block's start to its end: what would be on the
  // critical path if no warp waited for another.
  std::uint64_t warp_chain_clocks = 0;
  std::uint64_t warp_load_rounds = 0;
  std::uint64_t warp_shared_requests = 0;
  // All its warps together.
  std::uint64_t issue_slots = 0;  ///< in quarters
  std::uint64_t all_load_rounds = 0;
  std::uint64_t all_shared_requests = 0;
  std::uint64_t early_warps = 0;  ///< those that leave before half of the block's time is over

  friend bool operator==(const BlockWork&, const BlockWork&) = default;
};

/// Its fields, in the order in which the counters file has them.
inline constexpr std::uint64_t BlockWork::*kBlockWorkFields[] = {
    &BlockWork::chain_clocks,        &BlockWork::load_rounds,
    &BlockWork::shared_requests,     &BlockWork::barriers_after_loads,
    &BlockWork::other_barriers,      &BlockWork::warp_chain_clocks,
    &BlockWork::warp_load_rounds,    &BlockWork::warp_shared_requests,
    &BlockWork::issue_slots,         &BlockWork::all_load_rounds,
    &BlockWork::all_shared_requests, &BlockWork::early_warps};
static_assert(sizeof(BlockWork) == std::size(kBlockWorkFields) * sizeof(std::uint64_t),
              "a field that the counters file does not have is missing above");

/// Blocks of one kind that follow one another in launch order.
struct BlockRun {
  std::size_t kind = 0;
  std::uint64_t blocks = 0;
  friend bool operator==(const BlockRun&, const BlockRun&) = default;
};

/// All blocks of a launch.
struct LaunchWork {
  std::vector<BlockWork> kinds;
  std::vector<BlockRun> runs;
  std::vector<std::uint64_t> instructions;  ///< of warps, by cost class (program/costs.def)
};

}  // namespace membound::vgpu::counters
