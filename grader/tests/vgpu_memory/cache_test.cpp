// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/cache.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

TEST(SectoredCache, TheSecondLoadOfASectorHits) {
  SectoredCache cache(1 << 16);
  EXPECT_FALSE(cache.load(5));
  EXPECT_TRUE(cache.load(5));
}

TEST(SectoredCache, ANeighbouringSectorOfTheLineIsNotThereYet) {
  SectoredCache cache(1 << 16);
  EXPECT_FALSE(cache.load(4));
  EXPECT_FALSE(cache.load(5));
}

TEST(SectoredCache, TheLeastRecentlyUsedOfFourLinesLeaves) {
  SectoredCache cache(512);  // one set of four lines
  for (std::uint64_t line = 0; line < 4; ++line) EXPECT_FALSE(cache.load(line * 4));
  EXPECT_TRUE(cache.load(0));
  EXPECT_FALSE(cache.load(4 * 4));  // pushes out line 1
  EXPECT_TRUE(cache.load(0));
  EXPECT_FALSE(cache.load(1 * 4));
}

TEST(TouchMap, OnlyTheFirstTouchCounts) {
  TouchMap map(0, 1 << 20);
  EXPECT_TRUE(map.touch(100));
  EXPECT_FALSE(map.touch(100));
  EXPECT_FALSE(map.touch(1 << 20)) << "outside";
}

TEST(DramBytes, WhatFitsL2IsReadOnce) {
  const Traffic traffic{
      .l2_read_sectors = 1000, .distinct_read_sectors = 100, .distinct_written_sectors = 0};
  EXPECT_EQ(dram_read_bytes(traffic, 1 << 20), 3200u);
}

TEST(DramBytes, WhatDoesNotFitIsReadAgainInProportion) {
  const Traffic traffic{
      .l2_read_sectors = 300, .distinct_read_sectors = 100, .distinct_written_sectors = 0};
  EXPECT_EQ(dram_read_bytes(traffic, 3200), 6400u);  // half of 200 repeated sectors miss
}

}  // namespace
}  // namespace membound::vgpu::memory
