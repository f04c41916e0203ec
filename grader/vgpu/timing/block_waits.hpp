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
  double round_ns = 0;       ///< a round of loads
  double dram_rounds = 0;    ///< the share of rounds that wait for DRAM
  double shared_clocks = 0;  ///< a request to shared memory
  double rows_ns = 0;        ///< what a block waits longer for the last of several rows
};

[[nodiscard]] Averages averages(const Machine& m, const counters::Counters& c,
                                const counters::LaunchWork& work);

/// What a round waits longer for a DRAM that is busy for `dram_ns` of `ns`, where it writes as
/// well.
[[nodiscard]] double beside_writes_ns(const Machine& m, const counters::Counters& c,
                                      const Averages& mean, double dram_ns, double ns);

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
