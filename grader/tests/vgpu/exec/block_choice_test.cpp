// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/block_strata.hpp"

#include <gtest/gtest.h>

#include <set>

#include "grader/tests/vgpu/exec/sampled_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

TEST(BlockChoice, StrataHaveAllBlocksOnce) {
  using enum BlockChoice::Ends;
  for (const std::uint64_t blocks : {1, 2, 7, 8, 9, 17, 64, 65, 100, 5003}) {
    for (const BlockChoice::Ends ends : {kFirst, kLast, kBoth}) {
      const BlockChoice choice(blocks, kSms, kPlaces, 1, ends, kPlaces);
      std::uint64_t next = 0;
      for (const Stratum& stratum : choice.strata()) {
        EXPECT_EQ(stratum.first, next);
        next += stratum.blocks;
      }
      EXPECT_EQ(next, blocks);
      EXPECT_TRUE(ends == kLast || choice.strata().front().blocks == 1);
      EXPECT_TRUE(ends == kFirst || choice.strata().back().blocks == 1);
    }
  }
}

TEST(BlockChoice, AGroupIsWhatAnSmHoldsAtOnce) {
  const BlockChoice choice(5003, 132, 8, 42, BlockChoice::Ends::kBoth, 8);
  for (const Stratum& stratum : choice.strata()) {
    std::set<std::uint64_t> seen;
    for (std::uint32_t round = 0; round < 3; ++round) {
      std::uint32_t groups = 12;
      const auto blocks = choice.take(stratum, groups, round);
      for (std::size_t turn = 0; turn < blocks.size(); ++turn) {
        EXPECT_TRUE(seen.insert(blocks[turn]).second) << "twice: " << blocks[turn];
        EXPECT_GE(blocks[turn], stratum.first);
        EXPECT_LT(blocks[turn], stratum.first + stratum.blocks);
        EXPECT_EQ(blocks[turn] % 132, blocks[turn % groups] % 132);
        EXPECT_EQ(blocks[turn] / (132 * 8), blocks[0] / (132 * 8)) << "one wave";
      }
    }
  }
}

TEST(BlockChoice, OfBlocksThatTakeLongSomeOfAGroupRun) {
  const BlockChoice choice(100'000, 132, 8, 42, BlockChoice::Ends::kBoth, 2);
  const Stratum& middle = choice.strata()[2];
  std::uint32_t groups = 1;
  const auto blocks = choice.take(middle, groups, 0);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[1] - blocks[0], 4u * 132) << "half of the SM's eight apart";
  EXPECT_EQ(choice.part_of_group(middle), 0.25);
}

TEST(BlockChoice, OtherSeedsChooseOthers) {
  std::set<std::uint64_t> firsts;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::uint32_t groups = 4;
    const BlockChoice choice(1 << 20, 132, 8, seed, BlockChoice::Ends::kBoth, 8);
    firsts.insert(choice.take(choice.strata()[2], groups, 0)[0]);
  }
  EXPECT_GT(firsts.size(), 15u);
}

}  // namespace
}  // namespace membound::vgpu::exec
