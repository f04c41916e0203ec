// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/classroom/queue/one_submission.hpp"

namespace membound::queue {
namespace {

using course::GradeVerdict;
using course::Verdict;
using testing::ElementsAre;
using testing::HasSubstr;

course::StageResult stage(int number, double ratio, Verdict verdict = Verdict::kPassed) {
  course::StageResult result;
  result.stage = number;
  result.ratio = ratio;
  result.pass_ratio = 0.75;
  result.verdict = verdict;
  return result;
}

course::Grade passed(const std::string& student, const std::string& text) {
  course::Grade grade;
  grade.student = student;
  grade.lab = "03-transpose";
  grade.verdict = GradeVerdict::kPass;
  grade.device = "vgpu:h200";
  grade.submission_sha256 = text;
  grade.result.stages = {stage(1, 0.9), stage(2, 0.98)};
  return grade;
}

std::vector<std::string> chosen(const std::vector<course::Grade>& grades, std::size_t count,
                                const std::string& draw = "a") {
  std::vector<std::string> students;
  for (const course::Grade* grade : passes_to_retime(grades, count, draw))
    students.push_back(grade->student);
  return students;
}

TEST(SpotCheck, TakesOnlyPredictedPassesAndEachTextOnce) {
  course::Grade slow = passed("slow", "1"), measured = passed("measured", "2");
  slow.verdict = GradeVerdict::kFailSlow;
  measured.device = "NVIDIA H200";
  EXPECT_THAT(chosen({slow, measured, passed("ada", "3"), passed("copy", "3")}, 9),
              ElementsAre("ada"));
}

TEST(SpotCheck, BeginsWithWhatIsDoubtful) {
  std::vector<course::Grade> grades;
  for (char c = 'a'; c < 'q'; ++c) grades.push_back(passed({c}, {c}));
  grades[11].note = std::string(kLook) + "1: beyond the reference answer";
  for (const char* draw : {"a", "b", "c"}) EXPECT_EQ(chosen(grades, 4, draw).front(), "l");
  EXPECT_EQ(chosen(grades, 4).size(), 4U);
}

TEST(SpotCheck, DrawsTheRest) {
  std::vector<course::Grade> grades;
  for (char c = 'a'; c < 'q'; ++c) grades.push_back(passed({c}, {c}));
  EXPECT_EQ(chosen(grades, 4, "x"), chosen(grades, 4, "x"));
  EXPECT_NE(chosen(grades, 4, "x"), chosen(grades, 4, "y"));
}

TEST(SpotCheck, SaysWhichPredictionDoesNotHold) {
  course::Grade there = passed("ada", "3");
  there.device = "NVIDIA H200";
  there.result.stages = {stage(1, 0.4, Verdict::kSlow), stage(2, 0.97)};
  const Retimed again = compare_times(passed("ada", "3"), there);
  EXPECT_FALSE(again.holds());
  EXPECT_FALSE(again.stages[0].holds());
  EXPECT_TRUE(again.stages[1].holds());
  const std::string csv = spot_check_csv({again});
  EXPECT_THAT(csv, HasSubstr("ada,03-transpose,1,0.75,0.9,0.4,slow,differs,NVIDIA H200"));
  EXPECT_THAT(csv, HasSubstr("ada,03-transpose,2,0.75,0.98,0.97,passed,agrees,NVIDIA H200"));
}

TEST(SpotCheck, KeepsARowForWhatCannotBeRepeated) {
  course::Grade there = passed("ada", "3");
  there.verdict = GradeVerdict::kInfraError;
  there.note = "no room";
  there.result.stages.clear();
  EXPECT_THAT(spot_check_csv({compare_times(passed("ada", "3"), there)}), HasSubstr("no room"));
}

}  // namespace
}  // namespace membound::queue
