// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What autograders read, a platform each: Gradescope's and PrairieLearn's results.json, Autolab's
/// last line, GitHub Classroom's classroom50/result/v1. Sources: Gradescope's autograder
/// specification, Autolab's documentation for lab authors, PrairieLearn's documentation of external
/// grading, the schema of classroom50.

#include <algorithm>
#include <array>
#include <cmath>

#include "grader/classroom/exchange/exchange.hpp"

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
  if (grade.excused) return gradescope_failure("No score: " + grade.note);
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

/// Texts are marked "text", so that nothing a student wrote is read as markup.
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

namespace {

/// Its columns; every row holds as many values.
const json kColumns = {{"scoreboard", {{{"hdr", "Score"}}, {{"hdr", "Share of reference speed"}}}}};

std::string output_of(const course::Grade& grade) {
  std::string text = summary_beside_stages(grade) + "\n";
  for (const course::StageResult& stage : grade.result.stages)
    text += "\n" + stage_name(stage) + "\n" + stage_text(stage) + "\n";
  const json scores = {{"scores", {{grade.lab, *grade.score}}},
                       {"scoreboard", {*grade.score, grade.ratio.value_or(0)}}};
  return text + "\n" + scores.dump() + "\n";
}

}  // namespace

/// Autolab reads the last line of a grader's output: scores by problem (a lab is one) and the
/// scoreboard's row.
base::Result<Export> write_autolab(Grades grades, const Settings&) {
  Export out;
  out.documents.push_back({"scoreboard.json", json_text(kColumns)});
  for (const course::Grade& grade : grades) {
    if (!grade.is_there()) continue;
    if (grade.withheld())
      out.left_out.push_back(why_withheld(grade));
    else
      out.documents.push_back({folder_of(grade) + ".txt", output_of(grade)});
  }
  return out;
}

namespace {

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

/// A score from 0 to 1, at most 1 MB. A text that does not compile is "not gradable", which costs
/// the student no attempt; so is a withheld score.
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

namespace {

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

/// A file for each submission. Its scores are whole numbers, so everything is counted in hundredths
/// of a point. What only the course knows comes from Settings::context: keys that hold for all
/// stand at its top, those of one student below "students"/<id>.
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
