// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/html.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "grader/base/check.hpp"
#include "grader/base/filled_template.hpp"
#include "grader/report/advice_text.hpp"
#include "grader/report/html_kernel.hpp"
#include "grader/report/html_template.hpp"
#include "grader/report/step_through.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::StageResult;
using nlohmann::json;

std::string look_of(course::Verdict verdict) {
  const Tone tone = tone_of(verdict);
  return tone == Tone::kGood ? "good" : tone == Tone::kBad ? "bad" : "faint";
}

json failed_tests(const StageResult& stage) {
  json failed = json::array();
  for (const course::TestOutcome& test : stage.tests)
    if (!test.skipped && !test.passed)
      failed.push_back({{"name", test.name}, {"message", test.message}});
  return failed;
}

std::string passed_tests(const StageResult& stage) {
  std::vector<std::string> passed;
  for (const course::TestOutcome& test : stage.tests)
    if (!test.skipped && test.passed) passed.push_back(test.name);
  return listed(passed);
}

json speeds(const StageResult& stage) {
  json rows = json::array();
  if (!stage.speed) return rows;
  const double most =
      std::max({*stage.speed, stage.reference_speed.value_or(0), stage.ceiling.value_or(0)});
  const auto row = [&](const char* name, const std::optional<double>& value) {
    if (!value || *value <= 0) return;
    rows.push_back({{"name", name},
                    {"value", speed(*value, stage.bound)},
                    {"percent", coordinate(100 * *value / most)}});
  };
  row("yours", stage.speed);
  row("reference", stage.reference_speed);
  row("ceiling of this device", stage.ceiling);
  return rows;
}

/// What names the cause of a failure, and what else was found.
enum class FindingsOf { kCause, kRest };

json findings(const StageResult& stage, FindingsOf which) {
  json rows = json::array();
  for (const course::Finding& finding : stage.findings) {
    if (!finding.test.empty() || finding.text.empty()) continue;
    const bool is_cause = !finding.advice.empty() && !is_advice(finding, stage);
    if (is_cause != (which == FindingsOf::kCause)) continue;
    const std::string line = finding.line > 0 ? "Line " + std::to_string(finding.line) + ": " : "";
    rows.push_back({{"text", line + finding.text}, {"advice", finding.advice}});
  }
  if (which == FindingsOf::kRest)
    for (const std::string& remark : stage.remarks)
      rows.push_back({{"text", remark}, {"advice", ""}});
  if (which == FindingsOf::kRest)
    for (const std::string& note : stage.notes)
      if (!stage.speed) rows.push_back({{"text", note}, {"advice", ""}});
  return rows;
}

/// ", double 4096 x 4096": of which case the speeds are, where there are several.
std::string case_of(const StageResult& stage) {
  const course::Timing* const timing = course::slowest(stage.timings);
  return timing == nullptr || stage.timings.size() < 2
             ? ""
             : ", " + timing->label + ": furthest behind of " +
                   std::to_string(stage.timings.size()) + " cases";
}

json stage_values(const StageResult& stage, const SourceText& source) {
  json values = {{"number", std::to_string(stage.stage)},
                 {"title", stage.title},
                 {"tone", look_of(stage.verdict)},
                 {"verdict", words_for(stage.verdict)},
                 {"speed", stage.speed ? speed(*stage.speed, stage.bound) : "–"},
                 {"ratio", stage.ratio ? number(*stage.ratio) : "–"},
                 {"bar", number(stage.pass_ratio)},
                 {"points", points(stage.points) + " of " + points(stage.max_points)},
                 {"passed", passed_tests(stage)},
                 {"failed", json::array()},
                 {"more_failed", json::array()},
                 {"case", case_of(stage)},
                 {"speeds", speeds(stage)},
                 {"causes", findings(stage, FindingsOf::kCause)},
                 {"findings", findings(stage, FindingsOf::kRest)},
                 {"kernels", json::array()}};
  // The first one is the easiest to understand; most of the others fail for the same reason.
  json failed = failed_tests(stage);
  for (std::size_t i = 0; i < failed.size(); ++i)
    values[i == 0 ? "failed" : "more_failed"].push_back(std::move(failed[i]));
  values["more_count"] = std::to_string(values["more_failed"].size());
  for (const char* list : {"speeds", "causes", "findings", "more_failed"})
    values[std::string("has_") + list] = !values[list].empty();
  for (const course::KernelProfile& kernel : stage.profiles)
    values["kernels"].push_back({{"section", kernel_section(stage, kernel, source)}});
  return values;
}

/// Whether some kernel's accesses can be played.
bool has_a_trace(const course::Result& result) {
  return std::any_of(result.stages.begin(), result.stages.end(), [](const StageResult& stage) {
    return std::any_of(
        stage.profiles.begin(), stage.profiles.end(),
        [](const course::KernelProfile& kernel) { return kernel.accesses.size() > 1; });
  });
}

}  // namespace

std::string render_html(const course::Result& result, const SourceText& source) {
  json values = {
      {"style", template_text("style")},
      {"title", result.title},
      {"made_from", result.submission + " on " + result.device.name_for_times() + ", " +
                        result.compiler + ", seed " + std::to_string(result.seed) + ", " +
                        result.created_at + "; Membound " + result.membound_version},
      {"script", has_a_trace(result) ? steps_script() : ""},
      {"compiler_output", result.compiler_output},
      {"stages", json::array()}};
  for (const StageResult& stage : result.stages)
    values["stages"].push_back(stage_values(stage, source));
  auto page =
      base::filled_template(std::string(template_text("page")), values, base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

}  // namespace membound::report
