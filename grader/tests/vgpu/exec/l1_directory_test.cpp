// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "grader/vgpu/exec/traffic/l1_directory.hpp"
#include "grader/vgpu/exec/traffic/request_lines.hpp"

namespace membound::vgpu::exec {
namespace {

TEST(ReuseDistances, EveryTimeLiesInItsBucket) {
  for (std::uint32_t time = 0; time < 100000; ++time) {
    const std::uint32_t bucket = ReuseDistances::bucket(time);
    ASSERT_LE(ReuseDistances::shortest(bucket), time);
    ASSERT_GT(ReuseDistances::shortest(bucket + 1), time);
  }
  EXPECT_LT(ReuseDistances::bucket(~0u), ReuseDistances::kBuckets);
}

/// A loop over `lines` lines, one a unit of time, `turns` times.
ReuseDistances loop(std::uint32_t lines, std::uint32_t turns) {
  ReuseDistances times;
  times.add_first(lines);
  times.add(ReuseDistances::bucket(lines), lines * (turns - 1));
  return times;
}

TEST(ReuseDistances, ALoopThatFitsIsServed) {
  const ReuseDistances times = loop(64, 10);
  EXPECT_EQ(times.within(times.served_by(64, 64 * 10)), 64u * 9);
}

TEST(ReuseDistances, ALoopThatDoesNotFitIsNotServedAtAll) {
  const ReuseDistances times = loop(64, 10);
  EXPECT_EQ(times.within(times.served_by(48, 64 * 10)), 0u);
}

TEST(ReuseDistances, AStreamBesideItLeavesALoopLessRoom) {
  ReuseDistances times = loop(64, 10);  // and as many lines that are used once
  times.add_first(64 * 10);
  EXPECT_EQ(times.within(times.served_by(100, 64 * 10)), 0u);
  EXPECT_EQ(times.within(times.served_by(128, 64 * 10)), 64u * 9);
}

TEST(ReuseDistances, WhatComesBackAtOnceIsServedByTheSmallestCache) {
  ReuseDistances times;
  times.add_first(1000);
  times.add(ReuseDistances::bucket(0), 1000);
  EXPECT_EQ(times.within(times.served_by(1, 10)), 1000u);
}

}  // namespace

namespace {

constexpr std::uint64_t kL1Bytes = 256 << 10;

/// An SM whose loads are filed.
struct Filed {
  L1Directory sm{kL1Bytes};
  ReuseDistances lines, sectors;
  std::uint32_t load(std::uint64_t line, std::uint32_t wanted, std::uint32_t time) {
    return sm.load(line, wanted, time, lines, sectors).first;
  }
};

TEST(L1Directory, TheSecondLoadOfASectorIsAReuse) {
  Filed filed;
  EXPECT_EQ(filed.load(5, 0b0001, 0), 0b0001u);
  EXPECT_EQ(filed.load(5, 0b0001, 3), 0u);
  EXPECT_EQ(filed.sectors.within(3), 0u);
  EXPECT_EQ(filed.sectors.within(4), 1u) << "it came back after 3";
  EXPECT_EQ(filed.sectors.total(), 2u);
}

TEST(L1Directory, ANeighbouringSectorOfTheLineIsNotThereYet) {
  Filed filed;
  filed.load(4, 0b0001, 0);
  EXPECT_EQ(filed.load(4, 0b0011, 0), 0b0010u);
  EXPECT_EQ(filed.sectors.within(ReuseDistances::kBuckets), 1u);
  EXPECT_EQ(filed.lines.within(ReuseDistances::kBuckets), 1u) << "the line itself was there";
}

TEST(L1Directory, ASectorLeavesWithItsLineThoughTheLineCameBack) {
  Filed filed;
  filed.load(4, 0b0001, 0);
  filed.load(4, 0b0010, 1000);  // left alone for 1000
  filed.load(4, 0b0001, 1001);
  EXPECT_EQ(filed.sectors.within(ReuseDistances::bucket(999)), 0u);
  EXPECT_EQ(filed.sectors.within(ReuseDistances::bucket(1000) + 1), 1u);
}

TEST(L1Directory, AnotherWarpAtTheSameTimeOfItsClockMeetsTheLine) {
  Filed filed;
  for (std::uint32_t time = 0; time < 32; time += 2) filed.load(7, 0b0001, time);
  EXPECT_EQ(filed.sectors.within(2), 0u) << "alone for 2 between uses";
  for (std::uint32_t time = 0; time < 32; time += 2) filed.load(7, 0b0001, time);  // the other warp
  EXPECT_EQ(filed.sectors.within(1), 1u) << "they fetch it together";
  EXPECT_EQ(filed.sectors.within(2), 16u) << "then both have it";
}

TEST(L1Directory, WarpsFetchEachSectorTogether) {
  Filed filed;
  for (int warp = 0; warp < 2; ++warp)
    for (std::uint32_t sector = 0; sector < 4; ++sector) filed.load(7, 1u << sector, sector);
  EXPECT_EQ(filed.sectors.within(1), 4u);
}

TEST(L1Directory, AnEarlierUseMovesTheBeginningNotTheFetches) {
  Filed filed;
  filed.load(7, 0b0001, 9);
  filed.load(7, 0b0010, 5);
  filed.load(7, 0b0001, 9);
  filed.load(7, 0b0010, 5);
  EXPECT_EQ(filed.sectors.within(1), 2u);
  filed.load(7, 0b0001, 5);
  EXPECT_EQ(filed.sectors.within(1), 2u) << "fetched at 9";
}

TEST(L1Directory, KnowsManyTimesWhatAnL1Holds) {
  constexpr std::uint64_t kLines = 8 * kL1Bytes / 128;
  Filed filed;
  for (std::uint64_t line = 0; line < kLines; ++line) filed.load(line, 0b1111, 0);
  for (std::uint64_t line = 0; line < kLines; ++line) filed.load(line, 0b1111, 0);
  EXPECT_EQ(filed.lines.within(1), kLines);
}

TEST(L1Directory, LinesAPowerOfTwoApartDoNotPushEachOtherOut) {
  Filed filed;
  for (int turn = 0; turn < 2; ++turn)
    for (std::uint64_t row = 0; row < 512; ++row) filed.load(row * 64, 0b0001, 0);
  EXPECT_GE(filed.lines.within(1), 500u);
}

TEST(LineSet, GathersTheSectorsOfEachLine) {
  LineSet set;
  for (const std::uint64_t address : {0u, 128u, 32u, 160u, 4u}) set.add_address(address);
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.sectors(0), 0b0011u);
  EXPECT_EQ(set.sectors(1), 0b0011u);
}

TEST(LineSet, LinesThatRiseAndThenFallAreStillFound) {
  LineSet set;
  for (const std::uint64_t line : {3u, 5u, 9u, 4u, 5u, 9u, 3u, 10u, 4u})
    set.add(line, 1u << line % 4);
  ASSERT_EQ(set.size(), 5u);
  for (std::uint32_t i = 0; i < set.size(); ++i)
    EXPECT_EQ(set.sectors(i), 1u << set.line(i) % 4) << set.line(i);
  EXPECT_EQ(set.line(3), 4u);
  EXPECT_EQ(set.line(4), 10u);
}

TEST(LineSet, ARangeIsCutAtItsEnds) {
  LineSet set;
  set.add_range(96, 96 + 128);
  ASSERT_EQ(set.size(), 2u);
  EXPECT_EQ(set.line(0), 0u);
  EXPECT_EQ(set.sectors(0), 0b1000u);
  EXPECT_EQ(set.line(1), 1u);
  EXPECT_EQ(set.sectors(1), 0b0111u);
}

}  // namespace

}  // namespace membound::vgpu::exec
