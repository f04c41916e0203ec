// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/classroom/intake/course_rules.hpp"

namespace membound::intake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<course::Lab> labs_to_count() {
  std::vector<course::Lab> labs(2);
  labs[0].id = "01-reverse-array";
  labs[1].id = "03-transpose";
  labs[1].rubric = {{"table", 4, "a row per stage"}};
  labs[1].stages.resize(2);
  labs[1].stages[0].number = 1;
  labs[1].stages[1].number = 2;
  return labs;
}

base::Result<CourseRules> read(const std::string& text) {
  return read_course_rules(text, "course.yml", labs_to_count());
}

TEST(CountingRules, WeightsBestLabsAndPointsOfStages) {
  const auto rules = read(
      "counting:\n  weights: {1: 0.2, transpose: 0.8}\n"
      "  best: {count: 1, labs: [1, transpose]}\n  stages: {transpose: {2: 20}}\n"
      "  write_ups: [transpose]\n");
  ASSERT_TRUE(rules) << base::to_string(rules.error());
  const course::Counting& counting = rules->counting;
  EXPECT_EQ(counting.weights.at("01-reverse-array"), 0.2);
  EXPECT_EQ(counting.weights.at("03-transpose"), 0.8);
  ASSERT_EQ(counting.best.size(), 1U);
  EXPECT_EQ(counting.best[0].count, 1);
  EXPECT_THAT(counting.best[0].labs, ElementsAre("01-reverse-array", "03-transpose"));
  EXPECT_EQ(counting.stages.at("03-transpose").at("2"), 20);
  EXPECT_THAT(counting.write_ups, ElementsAre("03-transpose"));
}

TEST(CountingRules, LimitsAreOfAllLabsOrOfSome) {
  const auto rules = read("limits: {attempts: 5, minutes_a_student: 10}\n");
  ASSERT_TRUE(rules) << base::to_string(rules.error());
  EXPECT_EQ(rules->limits.of("03-transpose"), 5);
  EXPECT_EQ(rules->limits.seconds_a_student, 600);
  const auto some = read("limits: {attempts: {transpose: 3}}\n");
  ASSERT_TRUE(some) << base::to_string(some.error());
  EXPECT_EQ(some->limits.of("03-transpose"), 3);
  EXPECT_EQ(some->limits.of("01-reverse-array"), std::nullopt);
}

TEST(CountingRules, WrongOnesAreNamedWithTheirLine) {
  for (const char* text :
       {"counting:\n  weights: {transpose: much}\n", "counting:\n  weights: {nolab: 1}\n",
        "counting:\n  best: {labs: [1]}\n", "counting:\n  best: {count: 0}\n",
        "counting:\n  best: [{count: 1, labs: [1]}, {count: 1, labs: [1]}]\n",
        "counting:\n  stages: {transpose: {3: 5}}\n", "counting:\n  stages: {transpose: 5}\n",
        "counting:\n  write_ups: transpose\n", "counting:\n  write_ups: [1]\n",
        "counting:\n  drop: 1\n", "limits:\n  attempts: 0\n",
        "limits:\n  attempts: {transpose: x}\n", "limits:\n  minutes_a_student: -1\n"}) {
    const auto rules = read(text);
    ASSERT_FALSE(rules) << text;
    EXPECT_THAT(base::to_string(rules.error()), HasSubstr("course.yml:2")) << text;
  }
}

}  // namespace
}  // namespace membound::intake
