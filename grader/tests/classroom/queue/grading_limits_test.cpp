// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "grader/base/files.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/tests/classroom/queue/batch_fixture.hpp"

namespace membound::queue {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two students: ada hands in again and again, and each text says its points and seconds.
class LimitsTest : public BatchTest {
 protected:
  LimitsTest() {
    fs::remove_all(folder_ / "in");
    request_.grade_one = [this](const OneRequest& one) {
      ++runs_;
      const auto text = base::read_file(one.source);
      double points = 0, seconds = 0;
      EXPECT_EQ(std::sscanf(text->c_str() + text->find("points"), "points %lf seconds %lf", &points,
                            &seconds),
                2);
      OneOutcome outcome = fake_grade(one);
      course::Result result = outcome.grade.result;
      result.seconds = seconds;
      result.stages[0].verdict = course::Verdict::kSlow;
      result.stages[0].points = points;
      outcome.grade.take(std::move(result), *one.lab);
      return outcome;
    };
  }
  void hand_in(const std::string& student, int attempt, double points, double seconds = 1) {
    write_text(folder_ / "in" / student / ("attempt-" + std::to_string(attempt)) / "kernel.cu",
               "__global__ void quick(int*);  // points " + std::to_string(points) + " seconds " +
                   std::to_string(seconds) + " " + student + std::to_string(attempt) + "\n");
  }
  void rules(const std::string& yml) {
    request_.rules = *intake::read_course_rules(yml, "course.yml", course_.labs);
  }
  double score(const BatchSummary& summary, const std::string& student) {
    return grade(summary, student)->score.value_or(-1);
  }
};

TEST_F(LimitsTest, OfTheFirstAttemptsTheBestCounts) {
  for (int i = 1; i <= 6; ++i) hand_in("ada", i, i);
  hand_in("bob", 1, 4);
  rules("attempts: best\nlimits: {attempts: 3}\n");
  const auto summary = run();
  EXPECT_EQ(runs_, 4) << "three of ada's and one of bob's";
  EXPECT_EQ(score(summary, "ada"), 3);
  EXPECT_EQ(score(summary, "bob"), 4);
  EXPECT_EQ(summary.grades.left_out.size(), 3U);
  EXPECT_TRUE(summary.grades.open.empty());
  EXPECT_THAT(csv(), HasSubstr("not graded: attempt 6, and 3 count in this lab at most"));
}

TEST_F(LimitsTest, OfTheFirstAttemptsTheLatestCounts) {
  for (int i = 1; i <= 6; ++i) hand_in("ada", i, 7 - i);
  rules("attempts: latest\nlimits: {attempts: 3}\n");
  const auto summary = run();
  EXPECT_EQ(runs_, 1) << "nobody needs the others";
  EXPECT_EQ(score(summary, "ada"), 4);
  EXPECT_THAT(csv(),
              HasSubstr("not graded: attempt 1, and the latest that may count is attempt 3"));
}

TEST_F(LimitsTest, ALabMayHaveALimitOfItsOwn) {
  for (int i = 1; i <= 4; ++i) hand_in("ada", i, i);
  rules("attempts: best\nlimits: {attempts: {quick: 2}}\n");
  EXPECT_EQ(score(run(), "ada"), 2);
}

TEST_F(LimitsTest, AttemptsOfEarlierCallsCount) {
  rules("attempts: latest\nlimits: {attempts: 2}\n");
  for (int i = 1; i <= 4; ++i) {
    fs::remove_all(folder_ / "in");
    hand_in("ada", 1, i);
    // A folder of its own each time: one that is given again replaces itself.
    const fs::path week = folder_ / ("week" + std::to_string(i));
    fs::rename(folder_ / "in", week);
    request_.intake.sources = {week};
    run();
  }
  const auto summary = run();
  EXPECT_EQ(score(summary, "ada"), 2) << "the third and the fourth came too late";
}

TEST_F(LimitsTest, AHigherLimitGradesWhatWasLeftOut) {
  for (int i = 1; i <= 4; ++i) hand_in("ada", i, i);
  rules("attempts: best\nlimits: {attempts: 2}\n");
  run();
  rules("attempts: best\nlimits: {attempts: 3}\n");
  request_.intake.sources.clear();
  const auto summary = run();
  EXPECT_EQ(score(summary, "ada"), 3);
  EXPECT_EQ(runs_, 3);
}

TEST_F(LimitsTest, WhoHasUsedUpTheBudgetIsNotGradedFurther) {
  for (int i = 1; i <= 5; ++i) hand_in("ada", i, i, 40);
  for (int i = 1; i <= 5; ++i) hand_in("bob", i, i, 1);
  rules("attempts: best\nlimits: {minutes_a_student: 1}\n");
  request_.workers = 4;
  const auto summary = run();
  EXPECT_EQ(score(summary, "ada"), 2) << "after 40 and 80 of 60 seconds";
  EXPECT_EQ(score(summary, "bob"), 5);
  EXPECT_TRUE(summary.grades.open.empty());
  EXPECT_THAT(csv(), HasSubstr("not graded: grading took 80 s of this student's 60 s before"));
  const std::string before = csv();
  run();
  EXPECT_EQ(csv(), before);
  EXPECT_EQ(runs_, 7) << "and no later call changes that";
}

TEST_F(LimitsTest, ALabBeyondTheBudgetHasARowThatSaysSo) {
  add_fake_lab(folder_, "02-other", course_);
  write_text(folder_ / "in" / "ada" / "01-quick" / "kernel.cu",
             "__global__ void quick(int*);  // points 5 seconds 90\n");
  write_text(folder_ / "in" / "ada" / "02-other" / "kernel.cu",
             "__global__ void other(int*);  // points 5 seconds 90\n");
  rules("limits: {minutes_a_student: 1}\n");
  const auto summary = run();
  EXPECT_EQ(runs_, 1);
  ASSERT_EQ(summary.grades.grades.size(), 2U);
  EXPECT_EQ(summary.grades.grades[1].lab, "02-other");
  EXPECT_EQ(summary.grades.grades[1].score, 0);
  EXPECT_THAT(summary.grades.grades[1].note, HasSubstr("not graded: grading took 90 s"));
}

TEST_F(LimitsTest, WithoutALimitAllIsAsBefore) {
  for (int i = 1; i <= 6; ++i) hand_in("ada", i, i);
  rules("attempts: best\n");
  EXPECT_EQ(score(run(), "ada"), 6);
  EXPECT_EQ(runs_, 6);
  EXPECT_THAT(csv(), Not(HasSubstr("not graded")));
}

}  // namespace
}  // namespace membound::queue
