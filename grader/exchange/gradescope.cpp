// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gradescope's results.json. Texts are marked "text", so that nothing a student wrote is read as
/// markup. Source: Gradescope's autograder specification.
#include "grader/exchange/json_text.hpp"
#include "grader/exchange/platforms.hpp"
#include "grader/exchange/rows.hpp"

namespace membound::exchange {
namespace {

using nlohmann::json;

json test_of(const course::StageResult& stage) {
  return {{"name", stage_name(stage)},
          {"number", std::to_string(stage.stage)},
          {"score", stage.points},
          {"max_score", stage.max_points},
          {"status", stage.passed() ? "passed" : "failed"},  // 0 of 0 points would show as passed
          {"output", stage_text(stage)},
          {"tags", json::array({stage.kernel})}};
}

json results_of(const course::Grade& grade) {
  json tests = json::array();
  for (const course::StageResult& stage : grade.result.stages) tests.push_back(test_of(stage));
  std::string output = summary(grade);
  if (!grade.result.compiler_output.empty()) output += "\n\n" + grade.result.compiler_output;
  json results = {{"score", *grade.score},
                  {"execution_time", grade.result.seconds},
                  {"output", output},
                  {"output_format", "text"},
                  {"test_output_format", "text"},
                  {"test_name_format", "text"},
                  {"visibility", "visible"},
                  {"stdout_visibility", "hidden"},
                  {"tests", tests},
                  {"extra_data",
                   {{"lab", grade.lab},
                    {"verdict", course::to_string(*grade.verdict)},
                    {"device", grade.device},
                    {"submission_sha256", grade.submission_sha256},
                    {"graded_at", grade.graded_at}}}};
  if (grade.ratio)
    results["leaderboard"] =
        json::array({{{"name", "Share of the reference's speed"}, {"value", *grade.ratio}}});
  return results;
}

}  // namespace

base::Result<Export> write_gradescope(Grades grades, const Settings&) {
  Export out;
  for (const course::Grade& grade : grades) {
    if (!grade.verdict) continue;  // nothing was submitted there either
    if (grade.withheld())
      out.left_out.push_back(why_withheld(grade));
    else
      out.documents.push_back({folder_of(grade) + "/results.json", json_text(results_of(grade))});
  }
  return out;
}

}  // namespace membound::exchange
