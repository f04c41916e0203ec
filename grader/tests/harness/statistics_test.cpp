// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/statistics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace membound::harness {
namespace {

TEST(Statistics, TheMedianIsTheMiddle) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(std::vector<double>{}), 0);
}

TEST(Statistics, DroppedSamplesAreThoseOfTheSignTestsTables) {
  // Two-sided 5 % critical values of the sign test: n = 6: 0, n = 10: 1, n = 20: 5, n = 50: 17.
  EXPECT_EQ(samples_to_drop(6, 0.95), 0U);
  EXPECT_EQ(samples_to_drop(10, 0.95), 1U);
  EXPECT_EQ(samples_to_drop(20, 0.95), 5U);
  EXPECT_EQ(samples_to_drop(50, 0.95), 17U);
}

TEST(Statistics, AFewSamplesGiveTheirWholeRange) {
  const Interval interval = median_interval(std::vector<double>{5, 3, 4}, 0.95);
  EXPECT_EQ(interval.low, 3);
  EXPECT_EQ(interval.high, 5);
}

TEST(Statistics, TheIntervalHoldsTheTrueMedianAsOftenAsItSays) {
  std::mt19937_64 random(1);
  std::exponential_distribution<double> noise(1);  // skewed on purpose; its median is ln 2
  int held = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values(21);
    for (double& value : values) value = noise(random);
    const Interval interval = median_interval(values, 0.95);
    if (interval.low <= std::log(2.0) && std::log(2.0) <= interval.high) ++held;
  }
  // Order statistics are conservative: at least 95 %, less 3 standard deviations of the count.
  EXPECT_GE(held, static_cast<int>(kTrials * 0.95 - 3 * std::sqrt(kTrials * 0.95 * 0.05)));
}

TEST(Statistics, LargeCountsDoNotUnderflow) {
  EXPECT_GT(samples_to_drop(5000, 0.95), 2000U);
  EXPECT_LT(samples_to_drop(5000, 0.95), 2500U);
}

TEST(Statistics, TwiceAsFastIsARatioOfTwo) {
  EXPECT_THAT(speed_ratios(std::vector<double>{50, 100}, std::vector<double>{100, 100}),
              testing::ElementsAre(2, 1));
}

}  // namespace
}  // namespace membound::harness
