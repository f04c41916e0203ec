// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Gradescope's results.json. Texts are marked "text", so that nothing a student wrote is read as
/// markup. Source: Gradescope's autograder specification.
#include "grader/classroom/exchange/gradescope.hpp"

#include "grader/classroom/exchange/json_text.hpp"
#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/rows.hpp"

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

/// What every file says: texts that are only text, and the test program's words for instructors.
json frame(const std::string& output) {
  return {{"output", output},           {"output_format", "text"}, {"test_output_format", "text"},
          {"test_name_format", "text"}, {"visibility", "visible"}, {"stdout_visibility", "hidden"}};
}

}  // namespace

json gradescope_results(const course::Grade& grade) {
  if (grade.withheld())
    return gradescope_failure("No score yet: " +
                              std::string(course::row_of(*grade.verdict).meaning));
  std::string output = summary_beside_stages(grade);
  if (!grade.result.compiler_output.empty()) output += "\n\n" + grade.result.compiler_output;
  json results = frame(output);
  results["score"] = *grade.score;
  results["execution_time"] = grade.result.seconds;
  results["tests"] = json::array();
  for (const course::StageResult& stage : grade.result.stages)
    results["tests"].push_back(test_of(stage));
  results["extra_data"] = {{"lab", grade.lab},
                           {"verdict", grade.verdict ? course::to_string(*grade.verdict) : ""},
                           {"device", grade.device},
                           {"submission_sha256", grade.submission_sha256},
                           {"graded_at", grade.graded_at}};
  if (grade.ratio)
    results["leaderboard"] =
        json::array({{{"name", "Share of the reference's speed"}, {"value", *grade.ratio}}});
  return results;
}

json gradescope_refusal(const std::string& why) {
  json results = frame(why);
  results["score"] = 0;
  results["tests"] = json::array();
  return results;
}

json gradescope_failure(const std::string& why) {
  return frame(why + "\nYour instructor has to look; this is no grade.");
}

base::Result<Export> write_gradescope(Grades grades, const Settings&) {
  Export out;
  for (const course::Grade& grade : grades) {
    if (!grade.is_there()) continue;  // nothing was submitted there either
    if (grade.withheld())
      out.left_out.push_back(why_withheld(grade));
    else
      out.documents.push_back(
          {folder_of(grade) + "/results.json", json_text(gradescope_results(grade))});
  }
  return out;
}

}  // namespace membound::exchange
