// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/statistics.hpp"

#include <algorithm>
#include <cmath>

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

}  // namespace membound::harness
