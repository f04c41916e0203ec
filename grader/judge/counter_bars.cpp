// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/counter_bars.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "grader/base/demangle.hpp"
#include "grader/course/json_io.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/judge/findings.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;

/// Of a quotient, for its own rounding; counts are whole and exact.
constexpr double kRounding = 1e-9;

/// "32", "3.29"
std::string quotient_text(double value) {
  char text[40];
  std::snprintf(text, sizeof text, value == std::round(value) ? "%.0f" : "%.2f", value);
  return text;
}

/// "local load requests" for "local_load_requests".
std::string words(std::string counter) {
  std::replace(counter.begin(), counter.end(), '_', ' ');
  return counter;
}

/// What `bar` divides by.
double divisor(const course::CounterBar& bar, const json& counters, int multiprocessors) {
  if (bar.per.empty()) return 1;
  return bar.per == course::kMultiprocessors ? multiprocessors : counted_in_ptx(counters, bar.per);
}

/// By how much these counts pass the bar; not above 0 if they do not.
double excess(const course::CounterBar& bar, const json& counters, int multiprocessors) {
  const double allowed = bar.at_most * divisor(bar, counters, multiprocessors);
  return counted_in_ptx(counters, bar.counter) - allowed * (1 + kRounding);
}

/// Puts in the line of the kernel that passes the bar by the most, if one does by itself.
void find_line(const course::CounterBar& bar, const json& kernel, int multiprocessors,
               course::Finding& finding) {
  double most = 0;
  for (const json& line : kernel.value("lines", json::array())) {
    if (!line.is_object() || !line.contains("counters")) continue;
    const double above = excess(bar, line["counters"], multiprocessors);
    if (above <= most) continue;
    most = above;
    finding.file = course::text_or_empty(line, "file");
    finding.line = static_cast<int>(course::number_or_zero(line, "line", 0, 1e9));
  }
}

/// A kernel whose blocks have more shared memory than `bar` allows.
std::optional<course::Finding> missed_shared_bytes(const course::CounterBar& bar,
                                                   const course::StageMeasurement& measurement) {
  for (const course::KernelFacts& kernel : measurement.kernels) {
    const auto bytes =
        static_cast<double>(kernel.static_shared_bytes + kernel.dynamic_shared_bytes);
    if (bytes <= bar.at_most) continue;
    course::Finding finding;
    finding.text = "A block of " + base::short_function_name(kernel.name) + " has " +
                   quotient_text(bytes) + " bytes of shared memory; this stage allows " +
                   quotient_text(bar.at_most) + ".";
    return finding;
  }
  return std::nullopt;
}

std::string told(const course::CounterBar& bar, const json& kernel, double per) {
  const double all = counted_in_ptx(kernel.at("counters"), bar.counter);
  std::string text = base::short_function_name(course::text_or_empty(kernel, "name")) + " takes " +
                     quotient_text(per > 0 ? all / per : all) + " " + words(bar.counter);
  // "for each of its ideal shared wavefronts"
  if (!bar.per.empty())
    text += bar.per == course::kMultiprocessors ? " for each of the multiprocessors"
                                                : " for each of its " + words(bar.per);
  return text + " in the timed run; this stage allows " + quotient_text(bar.at_most) + ".";
}

/// The first kernel of which more was counted than `bar` allows.
std::optional<course::Finding> missed_count(const course::CounterBar& bar,
                                            const course::StageMeasurement& measurement) {
  if (!measurement.counters.is_object()) return std::nullopt;
  const int multiprocessors = measurement.device.sm_count;
  for (const json& kernel : measurement.counters.value("kernels", json::array())) {
    if (!kernel.is_object() || is_harness_kernel(kernel_name(kernel)) ||
        !kernel.contains("counters"))
      continue;
    if (excess(bar, kernel["counters"], multiprocessors) <= 0) continue;
    course::Finding finding;
    finding.text = told(bar, kernel, divisor(bar, kernel["counters"], multiprocessors));
    find_line(bar, kernel, multiprocessors, finding);
    return finding;
  }
  return std::nullopt;
}

}  // namespace

std::optional<course::Finding> missed_counter_bar(const course::Lab& lab,
                                                  const course::Stage& stage,
                                                  const course::StageMeasurement& measurement) {
  for (const course::CounterBar& bar : stage.counters) {
    auto finding = bar.counter == kSharedBytesOfABlock ? missed_shared_bytes(bar, measurement)
                                                       : missed_count(bar, measurement);
    if (!finding) continue;
    finding->kind = "over-budget";
    finding->hint_tag = first_known_tag(lab, {bar.hint_tag});
    finding->test = to_string(course::BuiltInTest::kBudget);
    return finding;
  }
  return std::nullopt;
}

std::optional<double> counted_answer(const course::Stage& stage,
                                     const course::StageMeasurement& measurement) {
  if (!stage.question || !measurement.counters.is_object()) return std::nullopt;
  const course::Question& question = *stage.question;
  if (!stage.kind->has_reference) {
    const json program = measurement.counters.value("program", json::object());
    return program.contains(question.counter) ? std::optional(program[question.counter])
                                              : std::nullopt;
  }
  double count = 0, per = 0;
  std::optional<std::string> first_case;
  for (const json& kernel : measurement.counters.value("kernels", json::array())) {
    if (!kernel.is_object() || is_harness_kernel(kernel_name(kernel)) ||
        !kernel.contains("counters"))
      continue;
    const std::string label = course::text_or_empty(kernel, "case");
    if (!first_case) first_case = label;
    if (label != *first_case) continue;
    count += counted_in_ptx(kernel["counters"], question.counter);
    per += counted_in_ptx(kernel["counters"], question.per);
  }
  if (!first_case) return std::nullopt;
  if (question.per.empty()) return count;
  if (question.per == course::kMultiprocessors) per = measurement.device.sm_count;
  if (per <= 0) return std::nullopt;
  return count / per;
}

}  // namespace membound::judge
