// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/ceiling.hpp"

#include <gtest/gtest.h>

namespace membound::harness {
namespace {

TimedCase case_of(std::size_t input_count, std::size_t output_count) {
  TimedCase timed_case;
  timed_case.inputs = {{.count = input_count}};
  timed_case.output = {.count = output_count};
  return timed_case;
}

TEST(SpeedRules, ACaseIsHeldAgainstTheCeilingOfWhatItDoes) {
  EXPECT_EQ(ceiling_kind_of(case_of(1000, 1000)), CeilingKind::kCopy);
  EXPECT_EQ(ceiling_kind_of(case_of(1000, 1)), CeilingKind::kRead);
  TimedCase product = case_of(1000, 1000);
  product.useful_operations = 1;
  EXPECT_EQ(ceiling_kind_of(product), CeilingKind::kOperations);
  product.fused_operations = true;
  EXPECT_EQ(ceiling_kind_of(product), CeilingKind::kMultiplyAdd);
}

TEST(SpeedRules, FasterThanTheCeilingBeyondTheMarginIsSuspicious) {
  EXPECT_FALSE(is_suspicious(104, 100));
  EXPECT_TRUE(is_suspicious(106, 100));
  EXPECT_FALSE(is_suspicious(106, 0)) << "no ceiling was measured";
}

TEST(SpeedRules, APredictionIsHeldBelowTheBestOfCopyAndReference) {
  EXPECT_EQ(ceiling_of_prediction(100, 120), 120);
  EXPECT_EQ(ceiling_of_prediction(100, 80), 100);
  EXPECT_DOUBLE_EQ(held_below(100, 1000, 5e9), 10e9) << "200 a second are 100";
  EXPECT_DOUBLE_EQ(held_below(100, 1000, 20e9), 20e9) << "a slower one stays";
  EXPECT_DOUBLE_EQ(held_below(0, 1000, 5e9), 5e9) << "no ceiling is known";
}

TEST(SpeedRules, ASlowKernelResemblesTheNearestStage) {
  const std::vector<std::pair<int, double>> stages = {{1, 8000}, {2, 2100}, {3, 1900}, {4, 1200}};
  EXPECT_EQ(nearest_stage(2050, stages), 2);
  EXPECT_EQ(nearest_stage(1950, stages), 3);
  EXPECT_EQ(nearest_stage(9500, stages), 1);
}

TEST(SpeedRules, BetweenTwoStagesItResemblesNone) {
  EXPECT_EQ(nearest_stage(4000, {{1, 8000}, {2, 2100}}), 0);
  EXPECT_EQ(nearest_stage(4000, {}), 0);
}

}  // namespace
}  // namespace membound::harness
