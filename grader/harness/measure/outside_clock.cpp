// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/outside_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "grader/harness/cases/statistics.hpp"

namespace membound::harness {
namespace {

constexpr double kShare = 0.05;
constexpr double kSigmas = 3;
/// What one call through a runner's socket costs, and so how well the way can be known: E7 of
/// grader/gpu_truth/records/grading_strangers.md.
constexpr double kWayNs = 10e3;
/// Standard deviations per median absolute deviation of a normal distribution.
constexpr double kSigmaPerMad = 1.4826;

double spread(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> away;
  for (const double value : values) away.push_back(std::abs(value - middle));
  return kSigmaPerMad * median(away);
}

}  // namespace

ClockComparison compare_clocks(const std::vector<double>& event_ns, const OutsideSamples& samples) {
  const double device_ns = median(event_ns);
  ClockComparison comparison;
  comparison.outside_ns = median(samples.work_wall_ns) - median(samples.nothing_wall_ns) +
                          median(samples.nothing_event_ns);
  // Independent samples: the variances add up.
  const double sigma = std::hypot(spread(samples.work_wall_ns), spread(samples.nothing_wall_ns));
  comparison.tolerance_ns = std::max({kShare * device_ns, kSigmas * sigma, kWayNs});
  comparison.agrees = std::abs(comparison.outside_ns - device_ns) <= comparison.tolerance_ns;
  return comparison;
}

std::string disagreement_text(double event_ns, const ClockComparison& comparison) {
  char text[200];
  std::snprintf(text, sizeof(text),
                "the device says that a run takes %.1f us, a clock outside of it says %.1f us, and "
                "they may differ by %.1f us",
                event_ns / 1e3, comparison.outside_ns / 1e3, comparison.tolerance_ns / 1e3);
  return text;
}

}  // namespace membound::harness
