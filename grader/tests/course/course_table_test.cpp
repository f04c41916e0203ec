// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/course/grade.hpp"

namespace membound::course {
namespace {

using testing::HasSubstr;

Grade points(const std::string& student, const std::string& lab, double score,
             double maximum = 100) {
  Grade grade;
  grade.student = student;
  grade.lab = lab;
  grade.verdict = GradeVerdict::kFailSlow;
  grade.score = score;
  grade.max_score = maximum;
  return grade;
}

Grade excused(const std::string& student, const std::string& lab) {
  Grade grade = points(student, lab, 0);
  grade.score.reset();
  grade.excused = true;
  return grade;
}

TEST(CourseTable, AddsUpWhatLabsAreWorth) {
  const std::vector<Grade> grades = {points("a", "01", 5, 10), points("a", "02", 8, 10)};
  const CourseTable table = course_table(grades, {{"02", 20}});
  EXPECT_EQ(table.rows[0].total, 21);
  EXPECT_EQ(table.rows[0].worth, 30);
  EXPECT_EQ(total_text(table, table.rows[0]), "5 + 16 = 21 of 30");
}

TEST(CourseTable, WeightsAreOfPercentWhereNothingElseIsSaid) {
  const std::vector<Grade> grades = {points("a", "01", 8.5, 10), points("a", "02", 18, 20)};
  const CourseTable table = course_table(grades, {}, {{{"01", 0.2}, {"02", 0.3}}, {}, {}});
  EXPECT_DOUBLE_EQ(table.rows[0].total, 85 * 0.2 + 90 * 0.3);
  EXPECT_EQ(total_text(table, table.rows[0]), "85 × 0.2 + 90 × 0.3 = 44 of 50");
  const CourseTable other = course_table(grades, {{"01", 10}}, {{{"01", 2}}, {}, {}});
  EXPECT_EQ(total_text(other, other.rows[0]), "8.5 × 2 + 18 × 1 = 35 of 40");
}

TEST(CourseTable, TheLowestOfARuleDropsOut) {
  const std::vector<Grade> grades = {points("a", "01", 40), points("a", "02", 90),
                                     points("a", "03", 70), points("a", "04", 10),
                                     points("b", "01", 5)};
  const CourseTable table = course_table(grades, {}, {{}, {{2, {"01", "02", "03"}}}, {}});
  EXPECT_EQ(table.worth, 300);
  EXPECT_EQ(total_text(table, table.rows[0]),
            "90 + 70 + 10 = 170 of 300; left out: 01 (40, others are better)");
  EXPECT_EQ(table.rows[1].total, 5) << "two labs without a row count as 0";
  EXPECT_EQ(table.rows[1].worth, 300);
}

TEST(CourseTable, ARuleWithoutLabsIsAboutAllOthers) {
  const std::vector<Grade> grades = {points("a", "01", 40), points("a", "02", 90),
                                     points("a", "03", 70), points("a", "04", 10)};
  const CourseTable table = course_table(grades, {}, {{}, {{1, {"01", "02"}}, {1, {}}}, {}});
  EXPECT_EQ(table.rows[0].total, 160);
}

TEST(CourseTable, TheMostThatAnybodyCanHaveIsOfTheDearestLabs) {
  const std::vector<Grade> grades = {points("a", "01", 90), points("a", "02", 50)};
  const CourseTable table = course_table(grades, {}, {{{"01", 0.5}}, {{1, {"01", "02"}}}, {}});
  EXPECT_EQ(table.worth, 100);
  EXPECT_EQ(table.rows[0].worth, 50);
}

TEST(CourseTable, OfEqualsTheEarlierCounts) {
  const std::vector<Grade> grades = {points("a", "01", 50), points("a", "02", 50)};
  const CourseTable table = course_table(grades, {}, {{}, {{1, {}}}, {}});
  EXPECT_EQ(table.rows[0].cells[0].part, Part::kCounts);
  EXPECT_EQ(table.rows[0].cells[1].part, Part::kDropped);
}

TEST(CourseTable, AnExcusedLabIsNoneOfTheBestAndWorthNothing) {
  const std::vector<Grade> grades = {points("a", "01", 40), excused("a", "02"),
                                     points("a", "03", 70)};
  const CourseTable all = course_table(grades, {});
  EXPECT_EQ(total_text(all, all.rows[0]), "40 + 70 = 110 of 200; left out: 02 (excused)");
  EXPECT_EQ(all.rows[0].withheld, 0);
  const CourseTable best = course_table(grades, {}, {{}, {{2, {}}}, {}});
  EXPECT_EQ(best.rows[0].total, 110) << "two of the two that are left";
}

TEST(CourseTable, AWithheldScoreIsOpen) {
  std::vector<Grade> grades = {points("a", "01", 40), points("a", "02", 0)};
  grades[1].verdict = GradeVerdict::kSuspicious;
  grades[1].score.reset();
  const CourseTable table = course_table(grades, {});
  EXPECT_EQ(table.rows[0].withheld, 1);
  EXPECT_EQ(total_text(table, table.rows[0]), "40 + ? = 40 of 200");
}

}  // namespace
}  // namespace membound::course
