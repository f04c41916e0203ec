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

/// DRAM's bytes beside the blocks' own, of a launch of 1000 blocks of which one ran: it read 64 KiB
/// of its own, and asked for `asked` sectors of an array of `sectors` that all read.
std::uint64_t shared_dram_bytes(std::uint64_t sectors, std::uint64_t touched, std::uint64_t asked) {
  constexpr std::uint64_t kOwn = 2048, kBlocks = 1000, kL2 = 60'000'000;
  StratumWork some;
  some.blocks = kBlocks;
  some.of.resize(1);
  counters::Counters& totals = some.counters.totals;
  totals.blocks = totals.warps = 1;
  totals.threads = 32;
  totals.l2_read_sectors = kOwn + asked;
  some.reads = {{}, {kOwn, kOwn, kOwn * kBlocks}, {touched, asked, sectors}};
  std::vector<StratumWork> strata;
  strata.push_back(std::move(some));
  return scaled(strata, kL2, 132).totals.dram_read_bytes - kOwn * kBlocks * 32;
}

TEST(ScaledTraffic, ASmallArrayThatAllBlocksReadAgainStaysInL2) {
  EXPECT_EQ(shared_dram_bytes(2048, 2048, 16 * 2048), 2048u * 32) << "each sector once";
}

TEST(ScaledTraffic, ALargeArrayThatIsReadAgainComesFromDramInProportion) {
  constexpr std::uint64_t kSectors = 2'048'000;
  const double times = static_cast<double>(shared_dram_bytes(kSectors, 2048, 2 * 2048)) /
                       static_cast<double>(kSectors * 32);
  EXPECT_GT(times, 1.5);
  EXPECT_LT(times, 2);
}

}  // namespace
}  // namespace membound::vgpu::exec
