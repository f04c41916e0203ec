// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/clocks.hpp"

#include <gtest/gtest.h>

namespace membound::harness {
namespace {

constexpr double kUs = 1e3;

/// The way costs 30 us with 2 us of it between the events; samples that hardly spread.
OutsideSamples seen_from_outside(double work_ns, double jitter_ns = 0.1 * kUs) {
  OutsideSamples samples;
  for (int i = -2; i <= 2; ++i) {
    samples.work_wall_ns.push_back(work_ns + 28 * kUs + i * jitter_ns);
    samples.nothing_wall_ns.push_back(30 * kUs + i * jitter_ns);
    samples.nothing_event_ns.push_back(2 * kUs);
  }
  return samples;
}

TEST(OutsideClock, TheWayIsTakenOff) {
  EXPECT_NEAR(compare_clocks({100 * kUs}, seen_from_outside(100 * kUs)).outside_ns, 100 * kUs, 1);
}

TEST(OutsideClock, AgreesWithinFivePercent) {
  EXPECT_TRUE(compare_clocks({1000 * kUs}, seen_from_outside(1040 * kUs)).agrees);
  EXPECT_FALSE(compare_clocks({1000 * kUs}, seen_from_outside(1060 * kUs)).agrees);
}

TEST(OutsideClock, AgreesWithinThreeSigma) {
  EXPECT_TRUE(compare_clocks({100 * kUs}, seen_from_outside(125 * kUs, 5 * kUs)).agrees);
  EXPECT_FALSE(compare_clocks({100 * kUs}, seen_from_outside(150 * kUs, 5 * kUs)).agrees);
}

TEST(OutsideClock, AShortRunMayDifferByWhatACallCosts) {
  EXPECT_TRUE(compare_clocks({4 * kUs}, seen_from_outside(13 * kUs)).agrees);
  EXPECT_FALSE(compare_clocks({4 * kUs}, seen_from_outside(15 * kUs)).agrees);
}

TEST(OutsideClock, EventsThatWereSetBackDoNotAgree) {
  const ClockComparison comparison = compare_clocks({1 * kUs}, seen_from_outside(300 * kUs));
  EXPECT_FALSE(comparison.agrees);
  EXPECT_EQ(disagreement_text(1 * kUs, comparison),
            "the device says that a run takes 1.0 us, a clock outside of it says 300.0 us, and "
            "they may differ by 10.0 us");
}

}  // namespace
}  // namespace membound::harness
