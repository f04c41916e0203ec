// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "grader/vgpu/exec/traffic/l2_footprint.hpp"

namespace membound::vgpu::exec {
namespace {

TEST(TouchMap, OnlyTheFirstTouchOfASectorCounts) {
  TouchMap map(0, 1 << 20);
  EXPECT_EQ(map.touch(100, 0b0011), 2u);
  EXPECT_EQ(map.touch(100, 0b0110), 1u);
  EXPECT_EQ(map.touch(1 << 20, 0b1111), 0u) << "outside";
}

TEST(TouchMap, ShortRunsAreThoseThatEndBeforeTheyAreLong) {
  TouchMap map(0, 1 << 20);
  const auto touch = [&](std::uint64_t first, std::uint64_t lines) {
    for (std::uint64_t line = first + lines; line > first; --line) map.touch(line - 1, 1);
  };
  touch(30, 4);  // over the border of two pages
  touch(36, 1);
  touch(50, 6);
  touch(300, 5);
  touch(320, 5);
  touch(325, 1);  // joins the one before
  EXPECT_EQ(map.short_runs(6), 3u);
  EXPECT_EQ(map.short_runs(7), 5u);
  EXPECT_EQ(TouchMap(0, 1 << 20).short_runs(6), 0u);
}

TEST(TouchMap, TheNextOneStartsWithNothing) {
  const auto touched = [] {
    TouchMap map(0, 1 << 20);
    return map.touch(3, 0b1111) + map.touch(4000, 0b1111);
  };
  EXPECT_EQ(touched(), 8u);
  EXPECT_EQ(touched(), 8u);
}

TEST(TouchMap, ThreadsThatMeetCountASectorOnce) {
  TouchMap map(0, 1 << 22);
  std::atomic<std::uint32_t> touched = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (std::uint64_t line = 0; line < 1 << 15; ++line) touched += map.touch(line, 0b0110);
      });
  }
  EXPECT_EQ(touched, 2u << 15);
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

}  // namespace membound::vgpu::exec
