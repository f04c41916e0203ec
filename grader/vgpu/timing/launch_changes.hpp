// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Changes to a launch that several rules make before the clock is asked again.
/// Place in the chain: mends_* -> [launch_changes].
#pragma once

#include <algorithm>
#include <cstdint>

#include "grader/vgpu/timing/mends.hpp"

namespace membound::vgpu::timing {

/// No less than 0.
[[nodiscard]] inline std::uint64_t less(std::uint64_t value, std::uint64_t by) {
  return value - std::min(value, by);
}

/// Rounded; 0 where the share is small enough.
[[nodiscard]] std::uint64_t share_of(std::uint64_t value, double share);

/// What is there stays there: no less than 1 of it.
[[nodiscard]] std::uint64_t times(std::uint64_t value, double factor);

void scale_grid(ClockedLaunch& launch, double factor);

/// What the slowest warp of each phase does, `factor` times.
void scale_path(counters::BlockWork& block, double factor);

/// What all warps of a block do together.
void scale_sums(counters::BlockWork& block, double factor);

/// Each block becomes `parts` blocks that do it together.
void split_blocks(ClockedLaunch& launch, double parts);

/// `count` blocks become one of as many times the warps.
void join_blocks(ClockedLaunch& launch, double count);

/// Each thread does the work of `count`, their loads at once.
void widen_threads(ClockedLaunch& launch, double count);

/// How many parts the work of a block can be cut into: its waits in a row, or stretches of 64
/// clocks, which are about ten instructions.
[[nodiscard]] double most_parts(const counters::LaunchWork& work);

/// Has DRAM bring each byte once, in whole lines: what loads that waste nothing ask for. `read` is
/// what L1 asked L2 for before.
void fetch_once(counters::Counters& counters, std::uint64_t read);

/// No piece is fetched for the sake of stores: none more than loads read.
void fetch_for_loads_only(counters::Counters& counters);

/// Of a warp's waits for memory, the share that is for local memory: 0 to 1.
[[nodiscard]] double local_rounds_share(const counters::Counters& counters);

}  // namespace membound::vgpu::timing
