// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "grader/vgpu/exec/traffic/request_lines.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint64_t kWarpsOfBlock = 32;

LineSet lines(std::uint64_t first, std::uint64_t count, std::uint64_t apart) {
  LineSet set;
  for (std::uint64_t i = 0; i < count; ++i) set.add(first + i * apart, 15);
  return set;
}

/// Warp w of a block loads what `of` says, in turn 0.
template <typename Of>
LoadRows::Counts one_turn(const Of& of) {
  LoadRows rows;
  LoadRows::Counts counts;
  for (std::uint64_t warp = 0; warp < kWarpsOfBlock; ++warp) rows.add(0, of(warp), counts);
  return counts;
}

TEST(LoadRows, WarpsThatGoOnFromEachOtherLoadOneRow) {
  const auto counts = one_turn([](std::uint64_t warp) { return lines(100 + warp, 1, 1); });
  EXPECT_EQ(counts.turns, 1u);
  EXPECT_EQ(counts.rows, 1u);
  const auto backwards = one_turn([](std::uint64_t warp) { return lines(100 - warp, 1, 1); });
  EXPECT_EQ(backwards.rows, 1u);
}

TEST(LoadRows, ATileHasARowForEachWarp) {
  const auto counts = one_turn([](std::uint64_t warp) { return lines(512 * warp, 1, 1); });
  EXPECT_EQ(counts.turns, 1u);
  EXPECT_EQ(counts.rows, kWarpsOfBlock);
}

TEST(LoadRows, WarpsThatLoadTheSameColumnLoadItsRowsOnce) {
  const auto counts = one_turn([](std::uint64_t) { return lines(7, 32, 512); });
  EXPECT_EQ(counts.rows, 32u);
}

TEST(LoadRows, EachTurnCountsForItselfAndLateOnesNot) {
  LoadRows rows;
  LoadRows::Counts counts;
  for (std::uint32_t turn = 0; turn < 1000; ++turn) rows.add(turn, lines(turn, 1, 1), counts);
  EXPECT_EQ(counts.turns, 64u);
  EXPECT_EQ(counts.rows, 64u);
  rows.clear();
  rows.add(0, lines(5, 2, 100), counts);
  EXPECT_EQ(counts.turns, 65u);
  EXPECT_EQ(counts.rows, 66u);
}

TEST(LoadRows, NothingWantedIsNoTurn) {
  LoadRows rows;
  LoadRows::Counts counts;
  rows.add(0, LineSet(), counts);
  EXPECT_EQ(counts.turns, 0u);
}

}  // namespace

}  // namespace membound::vgpu::exec
