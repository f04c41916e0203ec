// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/tests/classroom/exchange/grades.hpp"

#include <gtest/gtest.h>

namespace membound::exchange {
namespace {

course::StageResult stage(int number, double points, course::Verdict verdict) {
  course::StageResult result;
  result.lab = "03-transpose";
  result.stage = number;
  result.name = number == 1 ? "naive" : "tile";
  result.kernel = number == 1 ? "transpose_naive" : "transpose_tile";
  result.title = number == 1 ? "One thread an element" : "A tile in shared memory";
  result.verdict = verdict;
  result.max_points = points;
  result.points = verdict == course::Verdict::kPassed ? points : 0;
  result.correct = verdict == course::Verdict::kPassed || verdict == course::Verdict::kSlow;
  if (result.correct) result.ratio = 0.987;
  result.pass_ratio = 0.9;
  course::TestOutcome first;
  first.name = "MovesOneElement";
  first.passed = true;
  first.seconds = 0.25;
  result.tests = {first};
  return result;
}

course::Grade grade_of(const std::string& student, course::GradeVerdict verdict,
                       std::vector<course::StageResult> stages) {
  course::Grade grade;
  grade.student = student;
  grade.lab = "03-transpose";
  grade.verdict = verdict;
  grade.max_score = 10;
  if (course::row_of(verdict).has_score) grade.score = 0;
  for (const course::StageResult& result : stages)
    if (grade.score) *grade.score += result.points;
  grade.device = "vgpu:h200";
  grade.submission_sha256 = std::string(64, 'a');
  grade.submitted_at = "2026-11-20T10:00:00Z";
  grade.graded_at = "2026-11-21T12:00:00Z";
  grade.result.lab = grade.lab;
  grade.result.title = "Transpose a matrix";
  grade.result.seconds = 1.5;
  grade.result.stages = std::move(stages);
  return grade;
}

}  // namespace

course::Grade passed(const std::string& student, const std::string& name,
                     const std::string& email) {
  course::Grade grade =
      grade_of(student, course::GradeVerdict::kPass,
               {stage(1, 4, course::Verdict::kPassed), stage(2, 6, course::Verdict::kPassed)});
  grade.student_name = name;
  grade.student_email = email;
  grade.ratio = 0.987;
  return grade;
}

course::Grade failed(const std::string& student, const std::string& message) {
  course::StageResult wrong = stage(2, 6, course::Verdict::kWrong);
  course::TestOutcome test;
  test.name = "TellsRowsFromColumns";
  test.message = message;
  course::TestOutcome skipped;
  skipped.name = "LongAndThin";
  skipped.skipped = true;
  skipped.message = "an earlier test failed";
  wrong.tests.push_back(test);
  wrong.tests.push_back(skipped);
  return grade_of(student, course::GradeVerdict::kFailWrong,
                  {stage(1, 4, course::Verdict::kPassed), wrong});
}

course::Grade suspicious(const std::string& student) {
  return grade_of(
      student, course::GradeVerdict::kSuspicious,
      {stage(1, 4, course::Verdict::kPassed), stage(2, 6, course::Verdict::kSuspicious)});
}

course::Grade uncompiled(const std::string& student, const std::string& output) {
  course::Grade grade = grade_of(student, course::GradeVerdict::kCompileError, {});
  grade.result.compiler_output = output;
  return grade;
}

course::Grade missing(const std::string& student) {
  course::Grade grade = grade_of(student, course::GradeVerdict::kPass, {});
  grade.verdict.reset();
  grade.score = 0;
  return grade;
}

Export exported(std::string_view format, const std::vector<course::Grade>& grades,
                const Settings& settings) {
  auto result = write(format, grades, settings);
  EXPECT_TRUE(result) << base::to_string(result.error());
  return result ? *std::move(result) : Export{};
}

std::string refusal(std::string_view format, const std::vector<course::Grade>& grades,
                    const Settings& settings) {
  const auto result = write(format, grades, settings);
  EXPECT_FALSE(result);
  return result ? "" : base::to_string(result.error());
}

std::string text_of(const Export& result, const std::string& name) {
  for (const Document& document : result.documents)
    if (document.name == name) return document.text;
  ADD_FAILURE() << "no file " << name;
  return "";
}

base::CsvTable table_of(std::string_view text) {
  auto table = base::read_csv(text, "sheet.csv");
  EXPECT_TRUE(table) << base::to_string(table.error());
  return table ? *std::move(table) : base::CsvTable{};
}

}  // namespace membound::exchange
