// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The timeline of a program's run: stretches of time, shares of it that rules count, and what it
/// tells that no demand asks for, a sentence each. Pure.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "grader/sandbox/runner/call_record.hpp"

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

/// What a rule or a count looks at.
struct Case {
  const std::vector<runner::Call>& calls;
  const std::string& kernel;
  double number;

  [[nodiscard]] bool is_launch(const runner::Call& call) const;
};

/// Of the time that the kernels would take one after the other; 0 of none.
[[nodiscard]] double kernel_time_saved(const Case& c);

/// Of the time that copies take; 0 of none.
[[nodiscard]] double copies_beside_kernels(const Case& c);

/// What there is to count of the calls, by the names of course/lab.
[[nodiscard]] std::map<std::string, double> program_counts(const std::string& kernel,
                                                           const std::vector<runner::Call>& calls);

/// What a task has to do with the timeline, which is spoken of where it has.
enum class Timeline { kNone, kKernelsSideBySide, kCopiesBesideKernels };

/// `printed`: the program's own output, as it came. A program that ended with an error never came
/// to where it gives back what it made, and its last words are told with the error.
[[nodiscard]] std::vector<std::string> run_notes(const std::vector<runner::Call>& calls,
                                                 std::string_view printed, Timeline timeline,
                                                 bool ended_well = true);

}  // namespace membound::harness
