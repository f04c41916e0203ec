// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/address_sets.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace membound::vgpu::memory {
namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Pairs gaps(const AddressRanges& ranges, std::uint64_t begin, std::uint64_t end) {
  Pairs all;
  ranges.each_gap(begin, end, [&](std::uint64_t a, std::uint64_t b) { all.emplace_back(a, b); });
  return all;
}

TEST(AddressRanges, GapsAreWhatNoneOfThemHolds) {
  AddressRanges ranges;
  EXPECT_EQ(gaps(ranges, 5, 9), (Pairs{{5, 9}}));
  ranges.add(10, 20);
  ranges.add(30, 40);
  EXPECT_EQ(gaps(ranges, 0, 50), (Pairs{{0, 10}, {20, 30}, {40, 50}}));
  EXPECT_EQ(gaps(ranges, 15, 35), (Pairs{{20, 30}}));
  EXPECT_EQ(gaps(ranges, 10, 40), (Pairs{{20, 30}}));
  EXPECT_EQ(gaps(ranges, 22, 25), (Pairs{{22, 25}}));
  EXPECT_EQ(gaps(ranges, 12, 18), (Pairs{}));
  EXPECT_EQ(gaps(ranges, 40, 45), (Pairs{{40, 45}}));
}

}  // namespace
}  // namespace membound::vgpu::memory
