// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// When a timing has seen enough: early where the ratio is far from the bar, late where it is near.
/// Place in the chain: timing -> [stop_rule] -> statistics. Left out: measuring; a test feeds this
/// rule with simulated noise.
///
/// Looking at an interval after every pair and stopping at the first good look makes errors more
/// likely than the interval says. So a verdict against the student needs the 99.5 % interval, at
/// least kUsualPairs pairs, or every single pair far below the bar.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "grader/harness/cases/statistics.hpp"

namespace membound::harness {

/// Confidence of the interval that is reported.
inline constexpr double kReportedConfidence = 0.95;
/// Confidence needed to stop with "below the bar".
inline constexpr double kStopConfidence = 0.995;
/// Pairs before any pair's ratio counts, unless all are far below.
inline constexpr std::size_t kUsualPairs = 21;
/// Pairs after which "all of them far below the bar" ends the measurement.
inline constexpr std::size_t kFewestPairs = 5;
/// Far below: less than this share of the bar.
inline constexpr double kFarShare = 0.8;

/// The word for a measurement that ended because the bar is out of reach.
inline constexpr std::string_view kStoppedBelow = "below";
/// The word for a measurement that ended because its speed counts for nothing.
inline constexpr std::string_view kStoppedWrong = "wrong";

/// Caps of one timed case.
struct StopLimits {
  double bar = 0.75;         ///< the stage's pass_ratio
  double full_bar = 1e9;     ///< its full_ratio: above it a ratio earns no more points
  double seconds_clear = 4;  ///< once the interval lies on one side of the bar
  double seconds_near = 15;  ///< while the bar lies in the interval
  std::size_t most_pairs = 401;
  bool same_every_time = false;  ///< as TimingRules::same_every_time
};

/// The rule's answer after some pairs.
struct StopDecision {
  bool stop = false;
  bool decided = false;  ///< the reported interval lies on one side of the bar
  /// above | below | wrong | settled | time | pairs | single; empty while going on
  std::string_view word;
  std::string reason;  ///< the same as a sentence
};

/// `ratios`: reference time / student time of each pair so far, `seconds`: spent on them;
/// `is_wrong`: a result was.
[[nodiscard]] StopDecision decide_stop(std::span<const double> ratios, double seconds,
                                       const StopLimits& limits, bool is_wrong = false);

}  // namespace membound::harness
