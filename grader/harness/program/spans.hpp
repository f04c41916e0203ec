// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stretches of time on a timeline, in nanoseconds.
/// Place in the chain: rules -> [spans].
#pragma once

#include <algorithm>
#include <vector>

namespace membound::harness {

struct Span {
  double start_ns = 0, end_ns = 0;
};

/// The sum of their lengths.
[[nodiscard]] inline double total_ns(const std::vector<Span>& spans) {
  double sum = 0;
  for (const Span& span : spans) sum += span.end_ns - span.start_ns;
  return sum;
}

/// How long at least one of them lasts.
[[nodiscard]] inline double covered_ns(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
  double sum = 0, until = 0;
  for (const Span& span : spans) {
    sum += std::max(0.0, span.end_ns - std::max(span.start_ns, until));
    until = std::max(until, span.end_ns);
  }
  return sum;
}

/// The parts of `spans` that lie within `window`.
[[nodiscard]] inline std::vector<Span> within(const std::vector<Span>& spans, const Span& window) {
  std::vector<Span> parts;
  for (const Span& span : spans) {
    const Span part{std::max(span.start_ns, window.start_ns), std::min(span.end_ns, window.end_ns)};
    if (part.start_ns < part.end_ns) parts.push_back(part);
  }
  return parts;
}

}  // namespace membound::harness
