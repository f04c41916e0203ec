// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU says of a launch that it timed by some of its blocks.
/// Place in the chain: timing -> [sample_report]. Left out: what they wrote (coverage).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/harness/cases/block_range.hpp"
#include "grader/harness/cases/host_arrays.hpp"

namespace membound::harness {

/// Of all kernels in a report of counters.
struct SampleReport {
  std::string not_sampled;  ///< why one of them was not run; empty: all were
  bool takes_long = false;  ///< that is why: its blocks take too many instructions
  double share = 0;         ///< of the blocks that ran
  double warps = 1;         ///< of their warps, the least of any kernel
  double error = 0;         ///< the largest
  /// The last block had what those that ran have left, and zeros in place of what others leave.
  bool lacks_others = false;
  /// The blocks of the last launch that ran, in order.
  std::vector<BlockRange> ran;
  double instructions = 0;  ///< of warps, that all blocks together execute, about
  /// To or from global memory.
  struct Bytes {
    double ran = 0;  ///< by the blocks that ran,
    double all = 0;  ///< and, scaled, by all
  } stored, loaded;
};
[[nodiscard]] SampleReport sample_of(const nlohmann::json& counters);
/// "predicted from 0.47 % of the blocks, whose work says that of all within 0.2 %"
[[nodiscard]] std::string text_of(const SampleReport& report);

/// Whether the blocks that ran stand for the work of all, by the different elements of `array` that
/// they wrote (or read): where a few blocks do what most leave out, a sample of most says nothing
/// of the time. What is written where is not decided here (coverage).
[[nodiscard]] bool stands_for_all(const SampleReport::Bytes& moved, double error,
                                  const WrittenPart& part, const TimedBuffer& array);

}  // namespace membound::harness
