// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A classroom50/result/v1 file for each submission. Its scores are whole numbers, so everything is
/// counted in hundredths of a point. What only the course knows comes from Settings::context: keys
/// that hold for all stand at its top, those of one student below "students"/<id>.
/// Source: the schema of classroom50.
#include <array>
#include <cmath>

#include "grader/classroom/exchange/json_text.hpp"
#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/rows.hpp"

namespace membound::exchange {
namespace {

using nlohmann::json;

/// All required by the schema and known to no grade.
constexpr std::array kFromContext = {"classroom", "commit", "release", "review", "submission"};

std::int64_t hundredths(double points) { return std::llround(points * 100); }

/// The context of one student: what holds for all, overlaid by what holds for this one.
json context_of(const json& context, const std::string& student) {
  json merged = context;
  merged.erase("students");
  const auto students = context.find("students");
  if (students != context.end() && students->is_object() && students->contains(student))
    merged.update(students->at(student));
  return merged;
}

json tests_of(const course::Grade& grade) {
  json tests = json::array();
  for (const course::StageResult& stage : grade.result.stages)
    tests.push_back({{"test-name", stage_name(stage)},
                     {"passed", stage.passed()},
                     {"score", hundredths(stage.points)},
                     {"max-score", hundredths(stage.max_points)},
                     {"output", stage_text(stage)}});
  if (grade.mark)
    tests.push_back({{"test-name", "Marked by hand"},
                     {"passed", true},
                     {"score", 0},
                     {"max-score", 0},
                     {"output", summary_beside_stages(grade)}});
  return tests;
}

base::Result<json> result_of(const course::Grade& grade, const json& all_context) {
  const json context = context_of(all_context, grade.student);
  json result = {{"schema", "classroom50/result/v1"},
                 {"assignment", context.value("assignment", grade.lab)},
                 {"assignment_type", context.value("assignment_type", "individual")},
                 {"owner", context.value("owner", grade.student)},
                 {"datetime", grade.submitted_at.empty() ? grade.graded_at : grade.submitted_at},
                 {"graded_at", grade.graded_at},
                 {"score", hundredths(*grade.score)},
                 {"max-score", hundredths(grade.max_score)},
                 {"tests", tests_of(grade)}};
  for (const char* key : kFromContext) {
    if (!context.contains(key))
      return base::Error{
          base::ErrorKind::kUsage, "--context",
          std::string("no \"") + key + "\" for " + grade.student,
          R"({"classroom": …, "students": {"ID": {"commit": …, "submission": "submit/…"}}})",
          "classroom50 requires it of every result; add it to the context file"};
    result[key] = context.at(key);
  }
  return result;
}

}  // namespace

base::Result<Export> write_classroom50(Grades grades, const Settings& settings) {
  Export out;
  for (const course::Grade& grade : grades) {
    if (!grade.is_there()) continue;
    if (grade.withheld()) {
      out.left_out.push_back(why_withheld(grade));
      continue;
    }
    const auto result = result_of(grade, settings.context);
    if (!result) return result.error();
    out.documents.push_back({folder_of(grade) + "/result.json", json_text(*result)});
  }
  return out;
}

}  // namespace membound::exchange
