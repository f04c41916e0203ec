// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/reuse_times.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

TEST(ReuseTimes, EveryTimeLiesInItsBucket) {
  for (std::uint32_t time = 0; time < 100000; ++time) {
    const std::uint32_t bucket = ReuseTimes::bucket(time);
    ASSERT_LE(ReuseTimes::shortest(bucket), time);
    ASSERT_GT(ReuseTimes::shortest(bucket + 1), time);
  }
  EXPECT_LT(ReuseTimes::bucket(~0u), ReuseTimes::kBuckets);
}

/// A loop over `lines` lines, one a unit of time, `turns` times.
ReuseTimes loop(std::uint32_t lines, std::uint32_t turns) {
  ReuseTimes times;
  times.add_first(lines);
  times.add(ReuseTimes::bucket(lines), lines * (turns - 1));
  return times;
}

TEST(ReuseTimes, ALoopThatFitsIsServed) {
  const ReuseTimes times = loop(64, 10);
  EXPECT_EQ(times.within(times.kept_by(64, 64 * 10)), 64u * 9);
}

TEST(ReuseTimes, ALoopThatDoesNotFitIsNotServedAtAll) {
  const ReuseTimes times = loop(64, 10);
  EXPECT_EQ(times.within(times.kept_by(48, 64 * 10)), 0u);
}

TEST(ReuseTimes, AStreamBesideItLeavesALoopLessRoom) {
  ReuseTimes times = loop(64, 10);  // and as many lines that are used once
  times.add_first(64 * 10);
  EXPECT_EQ(times.within(times.kept_by(100, 64 * 10)), 0u);
  EXPECT_EQ(times.within(times.kept_by(128, 64 * 10)), 64u * 9);
}

TEST(ReuseTimes, WhatComesBackAtOnceIsServedByTheSmallestCache) {
  ReuseTimes times;
  times.add_first(1000);
  times.add(ReuseTimes::bucket(0), 1000);
  EXPECT_EQ(times.within(times.kept_by(1, 10)), 1000u);
}

}  // namespace
}  // namespace membound::vgpu::memory
