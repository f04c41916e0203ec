// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Medians with confidence intervals, without assumptions about the noise, and when a timing has
/// seen enough: early where the ratio is far from the bar, late where it is near.
///
/// Looking at an interval after every pair and stopping at the first good look makes errors more
/// likely than the interval says. So a verdict against the student needs the 99.5 % interval, at
/// least kUsualPairs pairs, or every single pair far below the bar.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace membound::harness {

/// The middle value; the mean of the two middle ones for an even count; 0 for none.
[[nodiscard]] double median(std::span<const double> values);

/// An interval that holds the true median with at least the wanted confidence.
struct Interval {
  double low = 0;
  double high = 0;
};

/// How many of `count` sorted samples may be dropped at each end so that what remains still holds
/// the true median with probability `confidence`. Order statistics: each sample lies below the
/// median with probability 1/2, so the number below is binomial, whatever the distribution.
[[nodiscard]] std::size_t samples_to_drop(std::size_t count, double confidence);

/// The interval from order statistics. With fewer samples than the confidence needs (6 for 95 %) it
/// is simply the smallest and the largest.
[[nodiscard]] Interval median_interval(std::span<const double> values, double confidence);

/// Pair by pair the student's speed relative to the reference's: reference time / student time.
[[nodiscard]] std::vector<double> speed_ratios(std::span<const double> student_ns,
                                               std::span<const double> reference_ns);

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
  double bar = 0;            ///< the stage's pass_ratio
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
