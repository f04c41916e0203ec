// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/cache.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

TEST(TouchMap, OnlyTheFirstTouchOfASectorCounts) {
  TouchMap map(0, 1 << 20);
  EXPECT_EQ(map.touch(100, 0b0011), 2u);
  EXPECT_EQ(map.touch(100, 0b0110), 1u);
  EXPECT_EQ(map.touch(1 << 20, 0b1111), 0u) << "outside";
}

TEST(TouchMap, ShortRunsAreThoseThatEndBeforeTheyAreLong) {
  TouchMap map(0, 1 << 20);
  std::vector<std::uint64_t> pieces;
  const auto touch = [&](std::uint64_t first, std::uint64_t lines) {
    for (std::uint64_t line = first + lines; line > first; --line) map.touch(line - 1, 1, &pieces);
  };
  touch(14, 4);  // over the border of two pieces of the map
  touch(20, 1);
  touch(40, 6);
  touch(300, 5);
  touch(320, 5);
  touch(325, 1);  // joins the one before
  EXPECT_EQ(map.short_runs(pieces, 6), 3u);
  EXPECT_EQ(map.short_runs(pieces, 7), 5u);
  EXPECT_EQ(map.short_runs({}, 6), 0u);
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
