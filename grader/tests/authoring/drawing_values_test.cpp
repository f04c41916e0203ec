// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/drawing_board.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace membound::authoring {
namespace {

using ::testing::HasSubstr;

Names some_names() {
  return {.numbers = {{"i", 7}, {"row", 2}},
          .words = {{"name", "pitch"}},
          .lists = {{"costs", {3, 1, 4}}},
          .scales = {{"X", {100, 300, 0, 10, false}}, {"Y", {200, 0, 1, 100, true}}}};
}

double sum(const std::string& text) { return *value_of(text, some_names()); }

std::string mistake(const std::string& text) {
  const auto value = value_of(text, some_names());
  return value ? "none" : base::to_string(value.error());
}

TEST(FigureSums, BindTighterTheLaterTheyStandInTheTable) {
  EXPECT_EQ(sum("1 + 2 * 3 - 4"), 3);
  EXPECT_EQ(sum("(1 + 2) * -3"), -9);
  EXPECT_EQ(sum("1 < 2 && 3 == 4 || i >= 7"), 1);
}

TEST(FigureSums, RoundTowardsMinusInfinity) {
  EXPECT_EQ(sum("i // 4"), 1);
  EXPECT_EQ(sum("-1 // 4"), -1);
  EXPECT_EQ(sum("-1 % 4"), 3);
  EXPECT_EQ(sum("i / 4"), 1.75);
}

TEST(FigureSums, SwizzleWithTheExclusiveOr) { EXPECT_EQ(sum("i ^ row"), 5); }

TEST(FigureSums, KnowListsAndScales) {
  EXPECT_EQ(sum("costs(row)"), 4);
  EXPECT_EQ(sum("X(5)"), 200);
  EXPECT_EQ(sum("Y(10)"), 100);
  EXPECT_EQ(sum("min(3, max(i, 9))"), 3);
}

TEST(FigureSums, SayWhatTheyDoNotKnow) {
  EXPECT_THAT(mistake("col + 1"), HasSubstr("the unknown name col"));
  EXPECT_THAT(mistake("col + 1"), HasSubstr("i, row, costs(), X(), Y(), min() and max()"));
  EXPECT_THAT(mistake("costs(3)"), HasSubstr("0 to 3 - 1"));
  EXPECT_THAT(mistake("1 +"), HasSubstr("nothing that has a value"));
  EXPECT_THAT(mistake("(1"), HasSubstr("no )"));
  EXPECT_THAT(mistake("1 2"), HasSubstr("\"2\""));
  EXPECT_THAT(mistake("1 / 0"), HasSubstr("no finite number"));
}

TEST(FigureTexts, HaveTheirNamesFilledIn) {
  EXPECT_EQ(*filled_in("{name} of {512 * i} words", some_names()), "pitch of 3,584 words");
  EXPECT_THAT(base::to_string(filled_in("{i", some_names()).error()), HasSubstr("{ without }"));
}

}  // namespace
}  // namespace membound::authoring
