// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How long blocks stay on an SM, and how many of them it holds: what they wait for.
/// Place in the chain: counters/block_work, machine, throughput -> [block_waits] -> model.
#pragma once

#include <cstdint>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/timing/machine.hpp"
#include "grader/vgpu/timing/occupancy.hpp"
#include "grader/vgpu/timing/schedule.hpp"

namespace membound::vgpu::timing {

/// What the launch's requests to memory cost on average.
struct Averages {
  double round_ns = 0;
  double shared_clocks = 0;  ///< a request to shared memory
};

[[nodiscard]] Averages averages(const Machine& m, const counters::Counters& c,
                                const counters::LaunchWork& work);

/// The life of each kind of block of `warps` warps.
[[nodiscard]] std::vector<BlockLife> lives_of(const Machine& m, const counters::LaunchWork& work,
                                              const Averages& mean, double warps);

/// Blocks an SM holds of the kind whose blocks take the most time together. Warps that left make
/// room for those of another block, but registers and shared memory are a block's until its last
/// warp leaves.
[[nodiscard]] std::uint32_t places_per_sm(const Machine& m, const Occupancy& occupancy,
                                          const counters::LaunchWork& work,
                                          const std::vector<BlockLife>& lives, double warps);

}  // namespace membound::vgpu::timing
