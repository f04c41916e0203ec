// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/course_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace membound::intake {
namespace {

using testing::HasSubstr;

std::vector<course::Lab> two_labs() {
  std::vector<course::Lab> labs(2);
  labs[0].id = "01-reverse-array";
  labs[1].id = "03-transpose";
  return labs;
}

CourseRules rules_of(const std::string& text) {
  auto rules = read_course_rules(text, "course.yml", two_labs());
  EXPECT_TRUE(rules) << (rules ? "" : base::to_string(rules.error()));
  return rules ? *rules : CourseRules();
}

std::string refusal_of(const std::string& text) {
  const auto rules = read_course_rules(text, "course.yml", two_labs());
  return rules ? "" : base::to_string(rules.error());
}

const std::string kCourse = R"(attempts: best
late:
  grace_minutes: 15
  percent_per_day: 10
labs:
  01-reverse-array:
    due: 2026-11-06T23:59Z
  transpose:
    due: 2026-11-20T23:59Z
    grace_minutes: 0
    percent_per_day: 25
    points: 20
extensions:
  - {student: s001, lab: transpose, due: 2026-11-27T23:59Z, reason: ill}
  - {student: Ada@X.org, due: 2026-12-24T12:00Z}
)";

TEST(CourseRules, EachLabHasItsOwnDueDateAndPrice) {
  const CourseRules rules = rules_of(kCourse);
  EXPECT_EQ(rules.best_attempt, true);
  const LatePolicy one = rules.policy("01-reverse-array", {{"s002"}});
  EXPECT_EQ(one.due, parse_time("2026-11-06T23:59Z"));
  EXPECT_EQ(one.grace_seconds, 15 * 60);
  EXPECT_EQ(one.percent_per_day, 10);
  const LatePolicy three = rules.policy("03-transpose", {{"s002"}});
  EXPECT_EQ(three.due, parse_time("2026-11-20T23:59Z"));
  EXPECT_EQ(three.grace_seconds, 0);
  EXPECT_EQ(three.percent_per_day, 25);
  EXPECT_EQ(rules.of("03-transpose").points, 20);
}

TEST(CourseRules, AnExtensionIsAStudentsAndALabs) {
  const CourseRules rules = rules_of(kCourse);
  EXPECT_EQ(rules.policy("03-transpose", {{"s001"}}).due, parse_time("2026-11-27T23:59Z"));
  EXPECT_TRUE(rules.policy("03-transpose", {{"s001"}}).extended);
  EXPECT_EQ(rules.policy("01-reverse-array", {{"s001"}}).due, parse_time("2026-11-06T23:59Z"));
}

TEST(CourseRules, AnExtensionWithoutALabIsForAllAndKnowsPeopleByAddressToo) {
  const CourseRules rules = rules_of(kCourse);
  for (const char* lab : {"01-reverse-array", "03-transpose"})
    EXPECT_EQ(rules.policy(lab, {{"s9", "Ada", "ada@x.org"}}).due, parse_time("2026-12-24T12:00Z"));
}

TEST(CourseRules, AnExtensionNeverComesBeforeTheDueDate) {
  const CourseRules rules = rules_of(
      "labs: {transpose: {due: 2026-11-20}}\nextensions: [{student: s, due: 2026-11-01}]\n");
  EXPECT_EQ(rules.policy("03-transpose", {{"s"}}).due, parse_time("2026-11-20"));
}

TEST(CourseRules, ReadBackFromThePlanTheyAreTheSame) {
  const CourseRules rules = rules_of(kCourse);
  const auto again = nlohmann::json::parse(nlohmann::json(rules).dump()).get<CourseRules>();
  EXPECT_EQ(nlohmann::json(again), nlohmann::json(rules));
  EXPECT_EQ(again.policy("03-transpose", {{"s001"}}).due, parse_time("2026-11-27T23:59Z"));
}

TEST(CourseRules, ALabIsCalledAsInACommand) {
  for (const char* name : {"reverse", "1", "01", "01-rev", "Reverse-Array"})
    EXPECT_TRUE(rules_of("labs: {" + std::string(name) + ": {due: 2026-11-20}}")
                    .mentions("01-reverse-array"))
        << name;
}

TEST(CourseRules, EachMistakeIsNamedWithItsLine) {
  EXPECT_THAT(refusal_of("late:\n  per_day: 3\n"), HasSubstr("course.yml:2"));
  EXPECT_THAT(refusal_of("late:\n  per_day: 3\n"), HasSubstr("\"per_day\" is unknown here"));
  EXPECT_THAT(refusal_of("labs: {sorting: {due: 2026-11-20}}"),
              HasSubstr("there is no lab \"sorting\""));
  EXPECT_THAT(refusal_of("labs: {transpose: {due: soon}}"), HasSubstr("\"soon\" is no time"));
  EXPECT_THAT(refusal_of("late: {percent_per_day: 120}"), HasSubstr("a number from 0 to 100"));
  EXPECT_THAT(refusal_of("attempts: first"), HasSubstr("best or latest"));
  EXPECT_THAT(refusal_of("extensions: [{lab: transpose, due: 2026-11-20}]"),
              HasSubstr("without student or due"));
  EXPECT_THAT(refusal_of("labs: [1, 2"), HasSubstr("is no YAML"));
  EXPECT_THAT(refusal_of("just words"), HasSubstr("is no list"));
}

TEST(CourseRules, ExtensionsAsATable) {
  const auto all = read_extensions(
      "student,lab,due,reason\ns001,transpose,2026-11-27,ill\ns002,all,2026-11-28,\n", "e.csv",
      two_labs());
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].lab, "03-transpose");
  EXPECT_EQ((*all)[0].due, parse_time("2026-11-27"));
  EXPECT_EQ((*all)[1].lab, "");
}

TEST(CourseRules, ATableWithAMistakeIsRefusedWithItsRow) {
  const auto refused = [](const std::string& text) {
    const auto all = read_extensions(text, "e.csv", two_labs());
    return all ? "" : base::to_string(all.error());
  };
  EXPECT_THAT(refused("student,due\ns001,2026-11-27\n"), HasSubstr("a column is missing"));
  EXPECT_THAT(refused("student,lab,due\ns001,sorting,2026-11-27\n"), HasSubstr("row 2"));
  EXPECT_THAT(refused("student,lab,due\ns001,,2026-11-27\n,,2026-11-27\n"), HasSubstr("row 3"));
  EXPECT_THAT(refused("student,lab,due\ns001,all,never\n"), HasSubstr("\"never\" is no time"));
}

}  // namespace
}  // namespace membound::intake
