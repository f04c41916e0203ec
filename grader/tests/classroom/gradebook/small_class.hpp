// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A few grades for the pages' tests.
#pragma once

#include <string>

#include "grader/course/grade.hpp"

namespace membound::gradebook {

/// A grade of lab 03 with one stage of that verdict; the score is the stage's ten points or none.
inline course::Grade grade_of(const std::string& student, course::GradeVerdict verdict,
                              course::Verdict stage_verdict, double ratio = 0.9) {
  course::StageResult stage;
  stage.lab = "03-transpose";
  stage.stage = 1;
  stage.title = "One thread an element";
  stage.kernel = "transpose_naive";
  stage.verdict = stage_verdict;
  stage.correct =
      stage_verdict == course::Verdict::kPassed || stage_verdict == course::Verdict::kSlow;
  stage.max_points = 10;
  stage.points = stage_verdict == course::Verdict::kPassed ? 10 : 0;
  stage.pass_ratio = 0.75;
  course::Grade grade;
  grade.student = student;
  grade.lab = "03-transpose";
  grade.verdict = verdict;
  grade.max_score = 10;
  if (course::row_of(verdict).has_score) grade.score = stage.points;
  if (stage.correct) grade.ratio = stage.ratio = ratio;
  grade.device = "vgpu:h200";
  grade.graded_at = "2026-11-21T12:00:00Z";
  grade.submission_sha256 = std::string(64, 'b');
  grade.result.title = "Transpose a matrix";
  grade.result.stages = {stage};
  return grade;
}

inline course::Grade passed(const std::string& student, double ratio = 0.9) {
  return grade_of(student, course::GradeVerdict::kPass, course::Verdict::kPassed, ratio);
}

inline course::Grade slow(const std::string& student, double ratio) {
  return grade_of(student, course::GradeVerdict::kFailSlow, course::Verdict::kSlow, ratio);
}

inline course::Grade wrong(const std::string& student) {
  course::Grade grade =
      grade_of(student, course::GradeVerdict::kFailWrong, course::Verdict::kWrong);
  course::Finding finding;
  finding.kind = "failed-test";
  finding.test = "MovesOneElement";
  finding.text = "element 7 is 1, not 2";
  grade.result.stages[0].findings = {finding};
  course::TestOutcome test;
  test.name = "MovesOneElement";
  test.message = "in[0] & <out>";
  grade.result.stages[0].tests = {test};
  return grade;
}

inline course::Grade suspicious(const std::string& student) {
  course::Grade grade =
      grade_of(student, course::GradeVerdict::kSuspicious, course::Verdict::kSuspicious);
  grade.note = "faster than the device can be";
  return grade;
}

}  // namespace membound::gradebook
