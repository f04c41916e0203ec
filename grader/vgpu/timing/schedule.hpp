// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which block runs when: blocks are dealt out in launch order, each to the place that is free
/// first. Place in the chain: counters' block_work, occupancy -> [schedule] -> model. A place is
/// free again when its block ends, however early some of its warps left: of 4,096 blocks of 32
/// warps, 31 of them idle, an H200 runs two an SM at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grader/vgpu/counters/block_work.hpp"

namespace membound::vgpu::timing {

/// What the machine does with the blocks of one kind.
struct BlockLife {
  double ns = 0;           ///< from its start to its end when nothing but waiting counts
  double work = 0;         ///< of its SM's pipes, in any unit
  double arriving_ns = 0;  ///< of `ns`: its warps arrive at barriers one after the other
  double loading_ns = 0;   ///< of `ns`: it waits for global memory
  double loads = 0;        ///< rounds of loads of all its warps
};

/// The whole launch.
struct Schedule {
  double ns = 0;             ///< until the last block has ended
  double occupied = 1;       ///< share of SMs × time with a block on the SM: 0 … 1
  double busiest_work = 1;   ///< the work of the SM that has the most, over the average of all SMs
  double busiest_loads = 1;  ///< the same of rounds of loads
};

/// Deals out `runs`, whose kinds index `lives`, to `places` places on each of `sms` SMs. SMs take
/// turns at first, but for the last `early` ones, which are full sooner: so blocks as many apart as
/// there are SMs need not meet on one.
[[nodiscard]] Schedule schedule(std::span<const counters::BlockRun> runs,
                                std::span<const BlockLife> lives, std::uint32_t sms,
                                std::uint32_t places, std::uint32_t early = 0);

/// The same work in blocks that are all alike and end together, however many that takes; no shorter
/// than the average block.
[[nodiscard]] Schedule spread_evenly(std::span<const counters::BlockRun> runs,
                                     std::span<const BlockLife> lives, std::uint32_t sms,
                                     std::uint32_t places);

}  // namespace membound::vgpu::timing
