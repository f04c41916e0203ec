// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times one case: student and reference in turn, on fresh inputs, every output compared.
///
/// One pair, the two in random order, each prepared in the same way:
///   draw inputs, poison output, flush L2 | event, launches, event
/// and after both the student's output is compared with the reference's. The reference always runs
/// last before the comparison (a second, untimed time if it was first), so that its answer is never
/// in memory while the student's kernel runs.
#pragma once

#include <optional>
#include <vector>

#include "grader/course/measurement.hpp"
#include "grader/harness/measure/bench.hpp"
#include "grader/harness/measure/coverage.hpp"

namespace membound::harness {

/// What was observed.
struct TimingOutcome {
  course::Timing timing;
  std::vector<course::KernelFacts> facts;
  nlohmann::json counters;  ///< see course::StageMeasurement::counters; null on a real GPU
  /// Why a launch that was to be sampled was not run; then nothing was timed. Empty: all is well.
  std::string not_sampled;
  SampledPlaces places;  ///< of a launch that was sampled
  /// Why the time of the blocks that ran is not that of all; empty where it is.
  std::string unlike;
  bool writes_variables = false;   ///< see SampleReport
  double instructions = 0;         ///< of warps, that all its blocks execute, about
  bool takes_long = false;         ///< that is why: a size nearly as large would, too
  std::optional<Refusal> refusal;  ///< the student's launch was refused; then nothing was timed
};

/// Times the case. Throws ReferenceError.
[[nodiscard]] TimingOutcome time_case(const Bench& bench, const TimingRequest& request);

}  // namespace membound::harness
