// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// PrairieLearn's results.json: a score from 0 to 1, at most 1 MB. A text that does not compile is
/// "not gradable", which costs the student no attempt; so is a withheld score.
/// Source: PrairieLearn's documentation of external grading.
#include <algorithm>

#include "grader/classroom/exchange/json_text.hpp"
#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/rows.hpp"

namespace membound::exchange {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = 1'000'000;
constexpr std::size_t kMaxTextBytes = 32'000;  // of one text; a lab has fewer than twenty

json results_of(const course::Grade& grade) {
  json results = {{"message", cut(summary_beside_stages(grade), kMaxTextBytes)}};
  const bool compiled = grade.verdict != course::GradeVerdict::kCompileError &&
                        grade.verdict != course::GradeVerdict::kCompileLimit;
  results["gradable"] = compiled && !grade.withheld();
  if (!compiled)
    results["format_errors"] = json::array({cut(grade.result.compiler_output, kMaxTextBytes)});
  if (!results["gradable"].get<bool>()) return results;
  results["score"] =
      grade.max_score > 0 ? std::clamp(*grade.score / grade.max_score, 0.0, 1.0) : 0.0;
  results["tests"] = json::array();
  for (const course::StageResult& stage : grade.result.stages)
    results["tests"].push_back({{"name", stage_name(stage)},
                                {"description", stage.kernel},
                                {"points", stage.points},
                                {"max_points", stage.max_points},
                                {"output", cut(stage_text(stage), kMaxTextBytes)}});
  return results;
}

}  // namespace

base::Result<Export> write_prairielearn(Grades grades, const Settings&) {
  Export out;
  for (const course::Grade& grade : grades) {
    if (!grade.is_there()) continue;
    if (grade.withheld()) out.left_out.push_back(why_withheld(grade) + ": written as not gradable");
    std::string text = json_text(results_of(grade));
    MEMBOUND_CHECK(text.size() <= kMaxBytes);
    out.documents.push_back({folder_of(grade) + "/results.json", std::move(text)});
  }
  return out;
}

}  // namespace membound::exchange
