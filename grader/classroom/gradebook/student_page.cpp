// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/classroom/gradebook/page_words.hpp"
#include "grader/classroom/gradebook/templates.hpp"

namespace membound::gradebook {
namespace {

using nlohmann::json;

json stage_row(const course::StageResult& stage) {
  return {{"name", std::to_string(stage.stage) + ". " + stage.title},
          {"points", decimal(stage.points, 2) + " / " + decimal(stage.max_points, 0)},
          {"tone", tone(stage.verdict)},
          {"verdict", words(course::to_string(stage.verdict))},
          {"ratio", ratio_text(stage.ratio)},
          {"bar", decimal(stage.pass_ratio, 2)}};
}

json line_of(const course::SourceLine& line) {
  const bool has_ideal = line.ideal_per_request > 0;
  return {
      {"line", std::to_string(line.line)},
      {"access", line.instance.empty() ? line.access : line.access + " (" + line.instance + ")"},
      {"per_request", decimal(line.per_request, 1) + " " + line.unit},
      {"ideal", has_ideal ? decimal(line.ideal_per_request, 1) : ""}};
}

/// A stage that was not passed: why, and what its accesses cost.
json detail_of(const course::StageResult& stage) {
  json findings = json::array(), tests = json::array(), lines = json::array();
  // A finding that says what a failed test said is shown once, as the test's message.
  const auto is_said = [&stage](const course::Finding& finding) {
    return std::any_of(stage.tests.begin(), stage.tests.end(), [&](const auto& test) {
      return test.failed() && test.name == finding.test && test.message == finding.text;
    });
  };
  for (const course::Finding& finding : stage.findings)
    if (!is_said(finding)) findings.push_back(finding.text);
  for (const course::TestOutcome& test : stage.tests)
    if (test.failed()) tests.push_back({{"name", test.name}, {"message", test.message}});
  for (const course::SourceLine& line : stage.source_lines) lines.push_back(line_of(line));
  const bool has_lines = !lines.empty();
  return {{"name", std::to_string(stage.stage) + ". " + stage.title},
          {"findings", std::move(findings)},
          {"tests", std::move(tests)},
          {"has_lines", has_lines},
          {"lines", std::move(lines)}};
}

json summary_of(const course::Grade& grade) {
  json lines = json::array();
  lines.push_back(grade.verdict ? std::string(course::row_of(*grade.verdict).meaning)
                                : "Nothing was submitted.");
  if (!grade.note.empty()) lines.push_back(grade.note);
  if (const std::string audit = course::audit_text(grade.audit); !audit.empty())
    lines.push_back("Run whole after it was timed by some of its blocks: " + audit + ".");
  return lines;
}

std::string facts_of(const course::Grade& grade) {
  if (!grade.verdict) return "";
  return "Device " + (grade.device.empty() ? "none" : grade.device) + " · graded " +
         grade.graded_at + " · submission " + grade.submission_sha256.substr(0, 12) + " · seed " +
         std::to_string(grade.seed) + (grade.seed_key.empty() ? "" : ", key " + grade.seed_key);
}

json lab_of(const course::Grade& grade) {
  json stages = json::array(), details = json::array();
  for (const course::StageResult& stage : grade.result.stages) {
    stages.push_back(stage_row(stage));
    if (!stage.passed()) details.push_back(detail_of(stage));
  }
  const bool has_stages = !stages.empty();
  return {{"title", grade.result.title.empty() ? grade.lab : grade.result.title},
          {"score", score_text(grade)},
          {"tone", tone(grade.verdict)},
          {"verdict", verdict_text(grade)},
          {"ratio", ratio_text(grade.ratio)},
          {"summary", summary_of(grade)},
          {"has_stages", has_stages},
          {"stages", std::move(stages)},
          {"details", std::move(details)},
          {"compiler", grade.result.compiler_output},
          {"facts", facts_of(grade)}};
}

}  // namespace

void for_each_student_page(const Class& all, const std::function<void(Page)>& take) {
  std::vector<std::string> students;
  std::map<std::string, std::vector<const course::Grade*>> grades;
  for (const course::Grade& grade : all.grades) {
    auto& of_student = grades[grade.student];
    if (of_student.empty()) students.push_back(grade.student);
    of_student.push_back(&grade);
  }
  for (const std::string& student : students) {
    json values = {{"class", all.title}, {"labs", json::array()}};
    for (const course::Grade* grade : grades[student]) {
      values["student"] = shown_student(*grade);
      values["labs"].push_back(lab_of(*grade));
    }
    take({page_of(student), filled("student", values)});
  }
}

}  // namespace membound::gradebook
