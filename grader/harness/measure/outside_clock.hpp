// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whether the device's events agree with a clock that the student's code cannot reach: the judge's
/// own, around the same launches. Events are written to memory of the process that runs the
/// student's kernels; a kernel that finds them can make itself look fast.
/// Place in the chain: timing -> [outside_clock] -> statistics. Left out: taking the samples
/// (timed_run).
#pragma once

#include <string>
#include <vector>

namespace membound::harness {

/// Seen from outside: launches with the work between two events, and the same with launches that do
/// nothing in its place, which leaves what messages and queues cost.
struct OutsideSamples {
  std::vector<double> work_wall_ns, nothing_wall_ns, nothing_event_ns;
};

/// What the two clocks say.
struct ClockComparison {
  double outside_ns = 0;    ///< median of the work seen from outside, less the cost of the way
  double tolerance_ns = 0;  ///< max(5 % of the events' time, 3 sigma, 10 us)
  bool agrees = true;
};

/// `event_ns` are the device's times of the runs that count.
[[nodiscard]] ClockComparison compare_clocks(const std::vector<double>& event_ns,
                                             const OutsideSamples& samples);

/// "the device says 12.3 us, …": why a run is suspicious.
[[nodiscard]] std::string disagreement_text(double event_ns, const ClockComparison& comparison);

}  // namespace membound::harness
