// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/findings.hpp"

#include <algorithm>
#include <set>

#include "grader/base/demangle.hpp"
#include "grader/course/json_io.hpp"
#include "grader/device_code/checkers/checkers.hpp"

namespace membound::judge {
namespace {

using course::Finding;
using course::Verdict;

/// "block (1, 0, 0), thread (31, 0, 0)".
std::string thread_text(const nlohmann::json& report) {
  std::string text;
  for (const char* key : {"block", "thread"}) {
    if (!report.contains(key) || !report[key].is_array()) continue;
    std::string numbers;
    for (const nlohmann::json& number : report[key])
      numbers += (numbers.empty() ? "" : ", ") + number.dump();
    text += (text.empty() ? "" : ", ") + std::string(key) + " (" + numbers + ")";
  }
  return text;
}

Finding checker_finding(const course::Lab& lab, const nlohmann::json& report) {
  Finding finding;
  std::string what, kind;
  course::read_field(report, "checker", finding.kind);
  course::read_field(report, "kind", kind);
  course::read_field(report, "text", what);
  course::read_field(report, "file", finding.file);
  course::read_field(report, "line", finding.line);
  course::read_field(report, "advice", finding.advice);
  const std::string kernel = base::short_function_name(course::text_or_empty(report, "kernel"));
  const std::string thread = thread_text(report);
  finding.text = kind + (kernel.empty() ? "" : " in " + kernel) +
                 (thread.empty() ? "" : ", " + thread) + ": " + what;
  std::string tag = kind;
  std::replace(tag.begin(), tag.end(), ' ', '-');
  finding.hint_tag = first_known_tag(lab, {tag, finding.kind});
  return finding;
}

/// The tags that fit, best first. What faulted or hung says more than the test that happened to be
/// running.
std::vector<std::string> tags_of(const course::Stage& stage, Verdict verdict, course::Cause abort,
                                 const course::TestOutcome* test) {
  const std::string tag = test == nullptr ? "" : test->hint_tag;
  const auto name = [](course::Cause cause) { return std::string(to_string(cause)); };
  if (verdict == Verdict::kSlow) return {"slow-" + stage.name};
  if (verdict == Verdict::kAmbiguous) return {tag, "slow-" + stage.name};
  if (course::row_of(verdict).ends_program) return {name(abort), tag};
  return {tag, test == nullptr ? "" : name(test->cause())};
}

/// Of what CUDA defines: worth knowing, and no fault.
bool is_remark(const nlohmann::json& report) {
  return report.is_object() && report.contains("remark") && report["remark"] == true;
}

bool is_allowed(const course::Lab& lab, int stage, const std::string& kind) {
  const auto& allowed = lab.unsafe.allowed;
  return std::any_of(allowed.begin(), allowed.end(), [&](const course::AllowedFinding& one) {
    return one.kind == kind && (one.stage == 0 || one.stage == stage);
  });
}

}  // namespace

const course::TestOutcome* first_failed(const course::StageMeasurement& measurement) {
  const auto found = std::find_if(measurement.tests.begin(), measurement.tests.end(),
                                  [](const course::TestOutcome& test) { return test.failed(); });
  return found == measurement.tests.end() ? nullptr : &*found;
}

std::string first_known_tag(const course::Lab& lab, const std::vector<std::string>& tags) {
  for (const std::string& tag : tags)
    if (!tag.empty() && lab.hints.contains(tag)) return tag;
  return "";
}

std::vector<Finding> failure_findings(const course::Lab& lab, const course::Stage& stage,
                                      const course::StageMeasurement& measurement,
                                      Verdict verdict) {
  const course::TestOutcome* const test = first_failed(measurement);
  Finding finding;
  finding.kind = course::row_of(verdict).ends_program ? std::string(to_string(measurement.abort))
                                                      : "failed-test";
  if (test != nullptr) {
    finding.test = test->name;
    finding.text = test->message;
  }
  if (finding.text.empty()) finding.text = measurement.abort_text;
  if (finding.test.empty() && finding.text.empty()) return {};
  // A lab's hint about faults is about addresses.
  if (finding.text.find("cudaErrorAssert") != std::string::npos)
    finding.advice =
        "find the threads for which the condition is false: let them printf their "
        "index and what is compared, in front of the assert";
  else
    finding.hint_tag = first_known_tag(lab, tags_of(stage, verdict, measurement.abort, test));
  return {finding};
}

std::vector<Finding> checker_findings(const course::Lab& lab,
                                      const course::StageMeasurement& measurement,
                                      bool at_right_results) {
  std::vector<Finding> all;
  if (!measurement.checks.is_array()) return all;
  for (const checkers::CheckerInfo& checker : checkers::kCheckers) {
    if (!checker.of_kernels || (at_right_results && !checker.at_right_results)) continue;
    for (const nlohmann::json& report : measurement.checks) {
      if (course::text_or_empty(report, "checker") != checker.name || is_remark(report)) continue;
      const std::string kind = course::text_or_empty(report, "kind");
      if (at_right_results && is_allowed(lab, measurement.stage, kind)) continue;
      all.push_back(checker_finding(lab, report));
    }
  }
  return all;
}

std::vector<Finding> remarks(const course::Lab& lab, const course::StageMeasurement& measurement) {
  std::vector<Finding> all;
  if (!measurement.checks.is_array()) return all;
  for (const nlohmann::json& report : measurement.checks) {
    if (!is_remark(report)) continue;
    all.push_back(checker_finding(lab, report));
    all.back().kind = course::kRemark;
  }
  return all;
}

std::vector<Finding> side_findings(const course::StageMeasurement& measurement) {
  std::vector<Finding> all;
  const nlohmann::json& counters = measurement.counters;
  if (counters.is_object() && counters.contains("reports")) {
    for (const nlohmann::json& report : counters["reports"]) {
      if (is_remark(report)) continue;
      Finding finding;
      finding.kind = course::text_or_empty(report, "checker");
      if (finding.kind.empty()) finding.kind = "checker";
      finding.text = course::text_or_empty(report, "text");
      finding.file = course::text_or_empty(report, "file");
      finding.line = static_cast<int>(course::number_or_zero(report, "line", 0, 1e9));
      all.push_back(std::move(finding));
    }
  }
  std::set<std::string> reasons;
  for (const course::Timing& timing : measurement.timings)
    reasons.insert(timing.throttle_reasons.begin(), timing.throttle_reasons.end());
  if (!reasons.empty()) {
    std::string list;
    for (const std::string& reason : reasons) list += (list.empty() ? "" : ", ") + reason;
    all.push_back({"throttled",
                   "The GPU held its clock back while it was measured (" + list +
                       "). Student and reference were timed in turn, so the ratio is fair.",
                   "", "", "", 0});
  }
  return all;
}

}  // namespace membound::judge
