// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/exchange/exchange.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/tests/classroom/exchange/grades.hpp"

namespace membound::exchange {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Cut, NeverSplitsACharacter) {
  EXPECT_EQ(cut("abc", 3), "abc");
  EXPECT_EQ(cut("a\xC3\xA9z", 2), "a… (cut)");
}

TEST(StudentsOf, PutsTheLabsOfOneStudentSideBySide) {
  course::Grade other = passed("a");
  other.lab = "04-reduction";
  const std::vector<course::Grade> grades = {passed("a"), passed("b"), other};
  const auto labs = labs_of(grades);
  EXPECT_THAT(labs, ElementsAre("03-transpose", "04-reduction"));
  const auto rows = students_of(grades, labs);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].by_lab[1], &grades[2]);
  EXPECT_EQ(rows[1].by_lab[1], nullptr);
}

TEST(Summary, SaysTheNoteOnce) {
  course::Grade grade = passed("a");
  grade.late_by_seconds = 5400;
  grade.late_factor = 0.8;
  grade.note = course::late_text(grade);
  const std::string text = summary(grade);
  EXPECT_THAT(text, HasSubstr("90 minutes late: 20 % of the points deducted"));
  EXPECT_EQ(text.find("late"), text.rfind("late"));
}

TEST(Formats, AnUnknownOneListsAll) {
  for (const Format& format : formats())
    EXPECT_THAT(refusal("blackboard", {passed("a")}), HasSubstr(std::string(format.name)));
}

}  // namespace
}  // namespace membound::exchange
