// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Simulated measurements: pairs with noise like a GPU's (a percent or two, some runs far slower),
// each costing a fixed time, until the rule says stop.
#include "grader/harness/cases/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace membound::harness {
namespace {

struct Noise {
  double sigma = 0.02;       // of the logarithm of each time
  double slow_share = 0.05;  // of runs that something disturbed
  double slow_factor = 1.5;
  double pair_seconds = 0.01;  // what a pair costs
};

struct Outcome {
  StopDecision decision;
  double seconds = 0;
  std::size_t pairs = 0;
  bool passed = false;  // the median's side of the bar
};

Outcome simulate(double true_ratio, const StopLimits& limits, const Noise& noise,
                 std::mt19937_64& random) {
  std::lognormal_distribution<double> jitter(0, noise.sigma);
  std::bernoulli_distribution disturbed(noise.slow_share);
  const auto time = [&](double best) {
    return best * jitter(random) * (disturbed(random) ? noise.slow_factor : 1);
  };
  std::vector<double> ratios;
  Outcome outcome;
  while (!outcome.decision.stop) {
    ratios.push_back(time(1.0) / time(1.0 / true_ratio));
    outcome.seconds += noise.pair_seconds;
    outcome.decision = decide_stop(ratios, outcome.seconds, limits);
  }
  outcome.pairs = ratios.size();
  outcome.passed = median(ratios) >= limits.bar;
  return outcome;
}

StopLimits bar_at(double bar) {
  StopLimits limits;
  limits.bar = bar;
  return limits;
}

class StopRule : public testing::Test {
 protected:
  std::mt19937_64 random_{20240607};
};

TEST(StopRuleOfPredictions, IsContentWithOnePair) {
  const double ratios[] = {0.5};
  EXPECT_FALSE(decide_stop(ratios, 0, {.bar = 0.75}).stop);
  const StopDecision decision = decide_stop(ratios, 0, {.bar = 0.75, .same_every_time = true});
  EXPECT_TRUE(decision.stop && decision.decided);
  EXPECT_EQ(decision.word, "single");
}

TEST_F(StopRule, TheReferenceNeverFailsAgainstItself) {
  for (const double bar : {0.75, 0.85, 0.92})
    for (int trial = 0; trial < 500; ++trial) {
      const Outcome outcome = simulate(1.0, bar_at(bar), {}, random_);
      ASSERT_TRUE(outcome.decision.decided && outcome.passed)
          << "bar " << bar << ", trial " << trial << ": " << outcome.decision.reason;
    }
}

TEST_F(StopRule, TheReferenceNeverFailsOnANoisyMachine) {
  const Noise noisy{.sigma = 0.08, .slow_share = 0.15, .slow_factor = 3};
  for (int trial = 0; trial < 100; ++trial) {
    const Outcome outcome = simulate(1.0, bar_at(0.85), noisy, random_);
    ASSERT_TRUE(outcome.decision.decided && outcome.passed) << outcome.decision.reason;
  }
}

TEST_F(StopRule, AmbiguousOnlyNearTheBar) {
  for (const double ratio : {0.30, 0.60, 0.72, 0.78, 0.90, 1.20})
    for (int trial = 0; trial < 60; ++trial) {
      const Outcome outcome = simulate(ratio, bar_at(0.75), {}, random_);
      ASSERT_TRUE(outcome.decision.decided) << ratio << ": " << outcome.decision.reason;
      ASSERT_EQ(outcome.passed, ratio > 0.75) << ratio;
    }
}

TEST_F(StopRule, OnTheBarItMeasuresLongerAndMayStayUndecided) {
  int undecided = 0;
  double pairs_near = 0, pairs_far = 0;
  constexpr int kTrials = 40;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Outcome near = simulate(0.75, bar_at(0.75), {}, random_);
    if (!near.decision.decided) ++undecided;
    pairs_near += static_cast<double>(near.pairs);
    pairs_far += static_cast<double>(simulate(1.0, bar_at(0.75), {}, random_).pairs);
  }
  EXPECT_GT(undecided, kTrials / 4);
  EXPECT_GT(pairs_near, 3 * pairs_far);
}

TEST_F(StopRule, AboveTheFullBarAWiderIntervalIsEnough) {
  const Noise places{.sigma = 0.022};  // an interval of 2 to 4 % after the usual pairs
  double pairs_full = 0, pairs_between = 0;
  for (int trial = 0; trial < 200; ++trial) {
    StopLimits limits = bar_at(0.75);
    limits.full_bar = 0.9;
    const Outcome full = simulate(1.0, limits, places, random_);
    ASSERT_TRUE(full.decision.decided && full.passed) << full.decision.reason;
    pairs_full += static_cast<double>(full.pairs);
    pairs_between += static_cast<double>(simulate(0.82, limits, places, random_).pairs);
  }
  EXPECT_LT(pairs_full, 0.75 * pairs_between);
}

TEST_F(StopRule, FarBelowTheBarFivePairsAreEnough) {
  const Outcome outcome = simulate(0.2, bar_at(0.75), {}, random_);
  EXPECT_EQ(outcome.pairs, kFewestPairs);
  EXPECT_EQ(outcome.decision.word, "below");
  EXPECT_TRUE(outcome.decision.decided);
}

TEST_F(StopRule, SlowPairsEndAtTheCapOfSeconds) {
  Noise slow;
  slow.pair_seconds = 4;
  const Outcome outcome = simulate(0.75, bar_at(0.75), slow, random_);
  EXPECT_EQ(outcome.decision.word, "time");
  EXPECT_LE(outcome.seconds, 15 + slow.pair_seconds);
}

TEST_F(StopRule, AClearResultStopsAtTheShorterCap) {
  Noise slow;
  slow.pair_seconds = 0.5;
  const Outcome outcome = simulate(1.0, bar_at(0.75), slow, random_);
  EXPECT_EQ(outcome.decision.word, "time");
  EXPECT_TRUE(outcome.decision.decided);
  EXPECT_LE(outcome.seconds, 4.5);
}

TEST_F(StopRule, WithoutNoiseOnTheBarItSettles) {
  const std::vector<double> same(kUsualPairs, 0.7499);
  std::vector<double> around = same;
  around.front() = 0.7501;
  for (std::size_t i = 0; i < around.size(); i += 2) around[i] = 0.7501;
  const StopDecision decision = decide_stop(around, 0.1, bar_at(0.75));
  EXPECT_TRUE(decision.stop);
  EXPECT_EQ(decision.word, "settled");
  EXPECT_FALSE(decision.decided);
}

TEST_F(StopRule, AWrongResultIsNotTimedForLong) {
  const std::vector<double> near(kFewestPairs, 0.75);
  const std::span<const double> fewer(near.data(), kFewestPairs - 1);
  EXPECT_FALSE(decide_stop(near, 0.1, bar_at(0.75)).stop);
  EXPECT_FALSE(decide_stop(fewer, 0.1, bar_at(0.75), true).stop);
  EXPECT_EQ(decide_stop(near, 0.1, bar_at(0.75), true).word, kStoppedWrong);
}

TEST_F(StopRule, EveryMeasurementEnds) {
  StopLimits limits = bar_at(0.75);
  limits.most_pairs = 50;
  const Noise wild{.sigma = 1, .slow_share = 0.3, .slow_factor = 10, .pair_seconds = 0};
  for (int trial = 0; trial < 100; ++trial)
    EXPECT_LE(simulate(0.75, limits, wild, random_).pairs, 50U);
}

TEST_F(StopRule, NothingIsDecidedBeforeTheFirstPair) {
  EXPECT_FALSE(decide_stop({}, 100, bar_at(0.75)).stop);
}

}  // namespace
}  // namespace membound::harness
