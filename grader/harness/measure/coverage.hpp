// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether all blocks of a launch that was timed by some of them write the whole output, found by
/// running a few blocks alone: each place is known, not only how many there are.
/// Place in the chain: stage_places -> [coverage] -> parts_run, tiling. Left out: running them all
/// (whole_run), which must decide where this cannot.
///
/// Of an output to which all blocks add, what they read of the input takes the place of what they
/// write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/harness/cases/tiling.hpp"
#include "grader/harness/measure/bench.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {

/// What the timed sample showed.
struct SampledPlaces {
  /// Blocks of the last launch that ran, in order; empty: not known.
  std::vector<BlockRange> blocks;
  bool some_warps = false;  ///< of each of them
  Footprint touched;        ///< elements that they wrote, or read of the input
};

/// Empty where every element that the case declares is written by exactly one block, as far as a
/// rule says that holds for the blocks of the sample, and for blocks drawn from the seed. Else what
/// stands against it.
[[nodiscard]] std::string find_doubt(const BenchParts& parts, const TimingRequest& request,
                                     const ReadyLaunch& student, const SampledPlaces& sample);

}  // namespace membound::harness
