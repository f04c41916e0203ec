// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU says of a launch that it timed by some of its blocks, and whether all of
/// them would have written all of the output.
/// Place in the chain: timing -> [sample_report]. Left out: whether what they wrote is right.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

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
  /// To or from global memory.
  struct Bytes {
    double ran = 0;  ///< by the blocks that ran,
    double all = 0;  ///< and, scaled, by all
  } stored, loaded;
};
[[nodiscard]] SampleReport sample_of(const nlohmann::json& counters);
/// "predicted from 0.47 % of the blocks, whose work says that of all within 0.2 %"
[[nodiscard]] std::string text_of(const SampleReport& report);

/// How many elements of the output the launch would have left unwritten (of the input: unread), by
/// what its sample wrote or read; 0 where that is no more than the sample itself may be off. A
/// kernel that skips blocks, or has many of them write the same, is fast and shows here.
[[nodiscard]] std::size_t missing_elements(const SampleReport::Bytes& moved, double error,
                                           const WrittenPart& part, const TimedBuffer& array);

}  // namespace membound::harness
