// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "grader/base/result.hpp"

namespace membound::harness {

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::size_t samples_to_drop(std::size_t count, double confidence) {
  const double tail = (1 - confidence) / 2;
  const double n = static_cast<double>(count);
  double below = 0;  // P(at most `dropped` samples lie below): then the interval misses above
  for (std::size_t dropped = 0; dropped < count / 2; ++dropped) {
    const double k = static_cast<double>(dropped);
    below += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) -
                      n * std::log(2.0));
    if (below > tail) return dropped == 0 ? 0 : dropped - 1;
  }
  return count == 0 ? 0 : (count - 1) / 2;
}

Interval median_interval(std::span<const double> values, double confidence) {
  if (values.empty()) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t dropped = samples_to_drop(sorted.size(), confidence);
  return {sorted[dropped], sorted[sorted.size() - 1 - dropped]};
}

std::vector<double> speed_ratios(std::span<const double> student_ns,
                                 std::span<const double> reference_ns) {
  MEMBOUND_CHECK(student_ns.size() == reference_ns.size());
  std::vector<double> ratios(student_ns.size());
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] = reference_ns[i] / student_ns[i];
  return ratios;
}

namespace {

/// Narrow enough for points in proportion between the bars.
constexpr double kGoodWidth = 0.02;
/// Above the full bar no run changes the points: then the ratio need only be worth telling, and the
/// same from one pair of processes to the next within 2 % (docs/judge_and_runner.md, "Place").
constexpr double kWorthTelling = 1.5 * kGoodWidth;
/// More runs would not tell more: the clock's own drift is of this size.
constexpr double kSettledWidth = 0.004;

std::string format(const char* pattern, double a, double b, std::size_t pairs) {
  char text[160];
  std::snprintf(text, sizeof(text), pattern, a, b, pairs);
  return text;
}

}  // namespace

StopDecision decide_stop(std::span<const double> ratios, double seconds, const StopLimits& limits,
                         bool is_wrong) {
  const std::size_t pairs = ratios.size();
  if (pairs == 0) return {};
  if (limits.same_every_time)
    return {true, true, "single",
            "the virtual GPU's time is the same every time: one run is enough"};
  const Interval reported = median_interval(ratios, kReportedConfidence);
  const Interval strict = median_interval(ratios, kStopConfidence);
  const bool enough = pairs >= kUsualPairs;
  const bool above = reported.low >= limits.bar;
  const bool below = reported.high < limits.bar;
  const double width = (reported.high - reported.low) / median(ratios);
  const auto stop = [&](std::string_view word, std::string reason) {
    return StopDecision{true, above || below, word, std::move(reason)};
  };

  if (is_wrong && pairs >= kFewestPairs)
    return stop(kStoppedWrong, format("a result was wrong: %.4f to %.4f after %zu pairs",
                                      reported.low, reported.high, pairs));
  const double best = *std::max_element(ratios.begin(), ratios.end());
  if (pairs >= kFewestPairs && best < kFarShare * limits.bar)
    return stop(kStoppedBelow, format("far below the bar: best %.3f, bar %.3f, after %zu pairs",
                                      best, limits.bar, pairs));
  const double wanted = reported.low >= limits.full_bar ? kWorthTelling : kGoodWidth;
  if (enough && above && width <= wanted)
    return stop("above", format("above the bar: at least %.3f, bar %.3f, after %zu pairs",
                                reported.low, limits.bar, pairs));
  if (enough && strict.high < limits.bar)
    return stop(kStoppedBelow, format("below the bar: at most %.3f, bar %.3f, after %zu pairs",
                                      strict.high, limits.bar, pairs));
  if (enough && width <= kSettledWidth)
    return stop("settled", format("on the bar within the noise: %.4f to %.4f after %zu pairs",
                                  reported.low, reported.high, pairs));
  if (pairs >= limits.most_pairs)
    return stop("pairs", format("most pairs measured: %.4f to %.4f after %zu pairs", reported.low,
                                reported.high, pairs));
  const bool clear = pairs >= kFewestPairs && (above || strict.high < limits.bar);
  if (seconds >= (clear ? limits.seconds_clear : limits.seconds_near))
    return stop("time", format("time is up: %.4f to %.4f after %zu pairs", reported.low,
                               reported.high, pairs));
  return {};
}

}  // namespace membound::harness
