// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/grade.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/tests/course/schema_check.hpp"

namespace membound::course {
namespace {

Lab two_stages() {
  Lab lab;
  lab.id = "03-transpose";
  lab.stages.resize(2);
  lab.stages[0].number = 1;
  lab.stages[0].points = 10;
  lab.stages[1].number = 2;
  lab.stages[1].points = 30;
  return lab;
}

Result result_with(std::vector<Verdict> verdicts, double points_each = 0) {
  Result result;
  result.lab = "03-transpose";
  result.submission_sha256 = std::string(64, 'b');
  result.seed = 77;
  result.device.name = "Membound H200";
  result.device.virtual_name = "vgpu:h200";
  for (const Verdict verdict : verdicts) {
    StageResult stage;
    stage.lab = result.lab;
    stage.stage = static_cast<int>(result.stages.size()) + 1;
    stage.verdict = verdict;
    stage.points = points_each;
    stage.max_points = points_each;
    result.stages.push_back(stage);
  }
  return result;
}

Grade graded(std::vector<Verdict> verdicts, double points_each = 0) {
  Grade grade;
  grade.student = "s1";
  grade.graded_at = "2026-01-02T03:04:05Z";
  grade.take(result_with(std::move(verdicts), points_each), two_stages());
  return grade;
}

TEST(GradeVerdict, AllStagesPassedIsAPass) {
  EXPECT_EQ(grade_verdict_of(result_with({Verdict::kPassed, Verdict::kPassed})),
            GradeVerdict::kPass);
}

TEST(GradeVerdict, TheWorstStageDecides) {
  EXPECT_EQ(grade_verdict_of(result_with({Verdict::kPassed, Verdict::kSlow, Verdict::kWrong})),
            GradeVerdict::kFailWrong);
  EXPECT_EQ(grade_verdict_of(result_with({Verdict::kWrong, Verdict::kFault})),
            GradeVerdict::kCrash);
  EXPECT_EQ(grade_verdict_of(result_with({Verdict::kTimeout, Verdict::kSuspicious})),
            GradeVerdict::kSuspicious);
}

TEST(GradeVerdict, AStageThatWasNotRunIsNobodysFailure) {
  EXPECT_EQ(row_of(Verdict::kSkipped).grade, GradeVerdict::kInfraError);
  EXPECT_EQ(grade_verdict_of(Result{}), GradeVerdict::kInfraError);
}

TEST(GradeVerdict, UndecidedSpeedIsBelowTheBar) {
  EXPECT_EQ(row_of(Verdict::kAmbiguous).grade, GradeVerdict::kFailSlow);
}

TEST(Grade, ScoreIsTheSumOfTheStagesPoints) {
  EXPECT_EQ(graded({Verdict::kPassed, Verdict::kSlow}, 5).score, 10);
}

TEST(Grade, MaxScoreIsThatOfTheWholeLab) { EXPECT_EQ(graded({Verdict::kPassed}, 5).max_score, 40); }

TEST(Grade, LateSubmissionsLoseTheirShare) {
  Grade grade;
  grade.late_factor = 0.8;
  grade.take(result_with({Verdict::kPassed, Verdict::kPassed}, 5), two_stages());
  EXPECT_DOUBLE_EQ(grade.score.value(), 8);
}

TEST(Grade, ASuspicionWithholdsTheScore) {
  const Grade grade = graded({Verdict::kPassed, Verdict::kSuspicious}, 5);
  EXPECT_TRUE(grade.withheld());
  EXPECT_EQ(nlohmann::json(grade)["score"], nullptr);
}

TEST(Grade, OurOwnFaultWithholdsTheScore) {
  Grade grade;
  grade.end(GradeVerdict::kInfraError, "the device vanished", two_stages());
  EXPECT_TRUE(grade.withheld());
}

TEST(Grade, ARefusalIsZeroOfTheWholeLab) {
  Grade grade;
  grade.end(GradeVerdict::kPolicyReject, "a link", two_stages());
  EXPECT_EQ(grade.score, 0);
  EXPECT_EQ(grade.max_score, 40);
}

TEST(Grade, RatioIsThatOfTheSlowestRightStage) {
  Result result = result_with({Verdict::kPassed, Verdict::kSlow, Verdict::kWrong});
  for (StageResult& stage : result.stages) stage.correct = stage.verdict != Verdict::kWrong;
  result.stages[0].ratio = 0.99;
  result.stages[1].ratio = 0.5;
  result.stages[2].ratio = 0.1;  // of a wrong result: says nothing
  Grade grade;
  grade.take(result, two_stages());
  EXPECT_EQ(grade.ratio, 0.5);
}

TEST(Grade, DeviceIsNamedAsOnTheCommandLine) {
  EXPECT_EQ(graded({Verdict::kPassed}).device, "vgpu:h200");
}

TEST(Grade, NothingSubmittedIsZeroWithoutAVerdict) {
  const Grade grade = Grade::missing("s2", two_stages());
  EXPECT_EQ(grade.verdict, std::nullopt);
  EXPECT_EQ(grade.score, 0);
  EXPECT_EQ(grade.note, "nothing submitted");
}

TEST(Grade, ComesBackFromJsonUnchanged) {
  Grade grade = graded({Verdict::kPassed, Verdict::kSlow}, 5);
  grade.late_by_seconds = 3600;
  grade.late_factor = 0.9;
  grade.seed = 0xffff'ffff'ffff'fffe;  // no double holds it
  grade.digests.lab = std::string(64, '1');
  const nlohmann::json json = grade;
  EXPECT_EQ(nlohmann::json(json.get<Grade>()), json);
}

TEST(Grade, FitsItsSchema) {
  EXPECT_EQ(schema_problems("docs/grade.schema.json", graded({Verdict::kPassed}, 5)), "");
  EXPECT_EQ(schema_problems("docs/grade.schema.json", graded({Verdict::kSuspicious}, 5)), "");
  EXPECT_EQ(schema_problems("docs/grade.schema.json", Grade::missing("s2", two_stages())), "");
}

TEST(Grade, SchemaRefusesAScoreThatMustBeWithheld) {
  nlohmann::json json = graded({Verdict::kInfraError});
  json["score"] = 0;
  EXPECT_NE(schema_problems("docs/grade.schema.json", json), "");
}

TEST(Grade, SchemaRefusesAWithheldScoreWithoutReason) {
  nlohmann::json json = graded({Verdict::kSlow});
  json["score"] = nullptr;
  EXPECT_NE(schema_problems("docs/grade.schema.json", json), "");
}

TEST(Grade, AVerdictOfANewerVersionIsNotTakenForAnotherOne) {
  nlohmann::json json = graded({Verdict::kPassed});
  json["verdict"] = "PARTLY";
  EXPECT_EQ(json.get<Grade>().verdict, GradeVerdict::kInfraError);
}

TEST(Grade, ABrokenFileIsNamed) {
  const auto grade = grade_from_text("{\"student\": 3}", "out/results/s1.json");
  ASSERT_FALSE(grade);
  EXPECT_EQ(grade.error().where, "out/results/s1.json");
}

TEST(Grade, BytesThatAreNotUtf8AreReplaced) {
  Grade grade = graded({Verdict::kPassed});
  grade.note = "\xff\xfe";
  EXPECT_TRUE(grade_from_text(to_text(grade), "x"));
}

}  // namespace
}  // namespace membound::course
