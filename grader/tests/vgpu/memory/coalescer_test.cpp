// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/coalescer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>

namespace membound::vgpu::memory {
namespace {

using Addresses = std::array<std::uint64_t, 32>;

Addresses strided(std::uint64_t first, std::uint64_t stride) {
  Addresses a;
  for (std::uint64_t lane = 0; lane < 32; ++lane) a[lane] = first + lane * stride;
  return a;
}

TEST(Coalescer, ContiguousWordsTakeFourSectorsOfOneLine) {
  const auto cost = coalesce(strided(4096, 4).data(), ~0u, 4);
  EXPECT_EQ(cost.sectors, 4u);
  EXPECT_EQ(cost.lines, 1u);
  EXPECT_EQ(cost.ideal_sectors, 4u);
}

TEST(Coalescer, MisalignedByOneWordTakesAFifthSector) {
  const auto cost = coalesce(strided(4100, 4).data(), ~0u, 4);
  EXPECT_EQ(cost.sectors, 5u);
  EXPECT_EQ(cost.lines, 2u);
}

TEST(Coalescer, StridesTakeASectorALaneFrom32BytesOn) {
  for (std::uint32_t words = 1; words <= 64; ++words) {
    // Closed form: 32 lanes cover words * 128 bytes, a sector per 32 bytes, never more than 32.
    const std::uint32_t expected = std::min(32u, words * 4);
    EXPECT_EQ(coalesce(strided(0, words * 4).data(), ~0u, 4).sectors, expected) << words;
  }
}

TEST(Coalescer, OneAddressForAllTakesOneSectorAndIsIdeal) {
  const auto cost = coalesce(strided(512, 0).data(), ~0u, 8);
  EXPECT_EQ(cost.sectors, 1u);
  EXPECT_EQ(cost.ideal_sectors, 1u);
}

TEST(Coalescer, IdealSectorsAreFilledByActiveLanesButNotMoreThanTouched) {
  Addresses far_apart, pairs;  // 8 words, 4 lanes each, no two in a sector; 16 words side by side
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    far_apart[lane] = lane / 4 * 160, pairs[lane] = lane / 2 * 4;
  EXPECT_EQ(coalesce(far_apart.data(), ~0u, 4).ideal_sectors, 4u);
  EXPECT_EQ(coalesce(pairs.data(), ~0u, 4).ideal_sectors, 2u);
}

TEST(Coalescer, BytesCountOnceARequest) {
  EXPECT_EQ(coalesce(strided(512, 0).data(), ~0u, 8).bytes, 8u);
  EXPECT_EQ(coalesce(strided(512, 8).data(), 0xFFFFu, 8).bytes, 128u);
}

TEST(Coalescer, TwoRowsOf16ThatAskForTheSameTakeWhatOneDoes) {
  Addresses twice = strided(4096 + 16, 4);
  std::copy_n(twice.begin(), 16, twice.begin() + 16);
  const auto cost = coalesce(twice.data(), ~0u, 4);
  EXPECT_EQ(cost.sectors, 3u);
  EXPECT_EQ(cost.lines, 1u);
  EXPECT_EQ(cost.ideal_sectors, 3u);
  EXPECT_EQ(cost.bytes, 64u);
}

TEST(Coalescer, NoActiveLaneCostsNothing) {
  EXPECT_EQ(coalesce(strided(0, 4).data(), 0, 4).sectors, 0u);
}

TEST(Coalescer, AnyPatternEqualsTheSetOfItsSectors) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    Addresses a;
    for (auto& address : a) address = random() % 8192 / 4 * 4;
    const std::uint32_t mask = random();
    std::set<std::uint64_t> sectors, lines;
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      if (!((mask >> lane) & 1)) continue;
      sectors.insert(a[lane] / 32);
      lines.insert(a[lane] / 128);
    }
    const auto cost = coalesce(a.data(), mask, 4);
    ASSERT_EQ(cost.sectors, sectors.size());
    ASSERT_EQ(cost.lines, lines.size());
  }
}

TEST(Coalescer, ContiguousFormEqualsTheGeneralOne) {
  for (std::uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
    for (std::uint64_t first = 0; first < 256; first += bytes) {
      const auto general = coalesce(strided(first, bytes).data(), ~0u, bytes);
      const auto fast = coalesce_contiguous(first, 32, bytes);
      ASSERT_EQ(general.sectors, fast.sectors);
      ASSERT_EQ(general.lines, fast.lines);
      ASSERT_EQ(general.ideal_sectors, fast.ideal_sectors);
      ASSERT_EQ(general.bytes, fast.bytes);
    }
  }
}

TEST(AtomicSectors, AWordWantedTwiceVisitsItsSectorTwice) {
  Addresses pairs;
  for (std::uint64_t lane = 0; lane < 32; ++lane) pairs[lane] = lane / 2 * 4;
  EXPECT_EQ(atomic_sectors(pairs.data(), ~0u), 4u);  // 2 sectors, each twice
}

TEST(AtomicTurns, TellSectorsInOrderWhateverTheOrderOfLanes) {
  Addresses backwards;
  for (std::uint64_t lane = 0; lane < 32; ++lane) backwards[lane] = (31 - lane) / 2 * 4 + 320;
  std::array<SectorTurns, kLanes> turns;
  ASSERT_EQ(atomic_turns(backwards.data(), ~0u, turns), 2u);
  EXPECT_EQ(turns[0].sector, 10u);
  EXPECT_EQ(turns[1].sector, 11u);
  EXPECT_EQ(turns[0].turns, 2u);
  EXPECT_EQ(atomic_turns(backwards.data(), 0, turns), 0u);
}

TEST(AtomicWordLoop, BothHalvesOfAWordTakeTwoTurns) {
  const WordLoop neighbours = atomic_word_loop(strided(0, 2).data(), ~0u);
  EXPECT_EQ(neighbours.turns, 2u);
  EXPECT_EQ(neighbours.load.sectors, 2u) << "16 words";
  EXPECT_EQ(neighbours.load.bytes, 64u);
  EXPECT_EQ(neighbours.swaps.sectors, 4u) << "2 each turn";
  EXPECT_EQ(neighbours.swap_sectors, 6u) << "2 lanes on each word, then 1";
}

TEST(AtomicWordLoop, EveryTurnLosesTheLaneThatCameThrough) {
  const WordLoop one = atomic_word_loop(strided(0, 0).data(), ~0u);
  EXPECT_EQ(one.turns, 32u);
  EXPECT_EQ(one.swaps.lines, 32u);
  EXPECT_EQ(one.swap_sectors, 528u) << "32 + 31 + … + 1";
  EXPECT_EQ(atomic_word_loop(strided(0, 0).data(), 0x10u).turns, 1u);
}

TEST(AtomicSectors, OneWordForAllIsVisitedByEveryLane) {
  EXPECT_EQ(atomic_sectors(strided(0, 0).data(), ~0u), 32u);
}

/// Stores `words` neighbouring words a lane, beginning at `first`: what the last one fills.
WriteCombiner::Filled store_neighbours(WriteCombiner& burst, std::uint32_t words,
                                       std::uint64_t first = 4096) {
  WriteCombiner::Filled filled;
  for (std::uint32_t k = 0; k < words; ++k)
    filled = burst.add(stored_sectors(strided(first + 4 * k, 4 * words).data(), ~0u, 4));
  return filled;
}
WriteCombiner after_a_load() {
  WriteCombiner burst;
  burst.load();
  return burst;
}

TEST(StoredSectors, AreCountedWhereTheyAreNotFilled) {
  EXPECT_EQ(stored_sectors(strided(4096, 4).data(), ~0u, 4).partial, 0u);
  EXPECT_EQ(stored_sectors(strided(4100, 4).data(), ~0u, 4).partial, 2u) << "its ends";
  const StoredSectors spread = stored_sectors(strided(4096, 16).data(), ~0u, 4);
  EXPECT_EQ(spread.partial, 16u);
  EXPECT_EQ(spread.lines, 4u);
  EXPECT_EQ(spread.bytes, 128u);
  EXPECT_EQ(spread.end - spread.lowest, 31u * 16 + 4);
}

TEST(WriteCombiner, FewNeighboursOfALaneReachL2AsWholeSectors) {
  for (const std::uint32_t words : {2u, 3u, 4u}) {
    WriteCombiner burst = after_a_load();
    const WriteCombiner::Filled filled = store_neighbours(burst, words);
    const std::uint32_t all = words * words * 4;  // sectors that the stores touch
    EXPECT_NEAR(filled.sectors, all, all * 0.02) << words;
    EXPECT_NEAR(filled.combined, all - words * 4, all * 0.03) << words;
  }
}

TEST(WriteCombiner, ManyDoNot) {
  WriteCombiner burst = after_a_load();
  EXPECT_LT(store_neighbours(burst, 8).sectors, 256u * 0.4);
  WriteCombiner of_all_warps_at_once;
  EXPECT_LT(store_neighbours(of_all_warps_at_once, 4).sectors, 64u * 0.6);
}

TEST(WriteCombiner, EndsWithALoadABarrierOrAStoreElsewhere) {
  const auto half = [](WriteCombiner& burst, int k) {
    return burst.add(stored_sectors(strided(4096 + 4 * k, 8).data(), ~0u, 4)).sectors;
  };
  WriteCombiner burst = after_a_load();
  EXPECT_EQ(half(burst, 0), 0u);
  EXPECT_EQ(half(burst, 1), 16u);
  half(burst, 0);
  burst.load();
  EXPECT_EQ(half(burst, 1), 0u) << "behind a load";
  burst.barrier();
  EXPECT_EQ(half(burst, 0), 0u) << "behind a barrier";
  EXPECT_EQ(burst.add(stored_sectors(strided(65536, 8).data(), ~0u, 4)).sectors, 0u);
  EXPECT_EQ(half(burst, 1), 0u) << "behind a store elsewhere";
  burst.barrier();
  half(burst, 0);
  EXPECT_EQ(burst.add(stored_sectors(strided(65536, 4).data(), ~0u, 4)).sectors, 0u);
  EXPECT_EQ(half(burst, 1), 16u) << "a store of whole sectors is none of its";
}

TEST(WriteCombiner, ThatStoresTheSamePlacesAgainFillsNothing) {
  WriteCombiner burst = after_a_load();
  for (int again = 0; again < 4; ++again)
    EXPECT_EQ(burst.add(stored_sectors(strided(4096, 8).data(), ~0u, 4)).sectors, 0u);
}

TEST(WriteCombiner, MayBeginBesideASector) {
  WriteCombiner burst = after_a_load();
  EXPECT_GT(store_neighbours(burst, 4, 4096 + 12).sectors, 60u);
}

}  // namespace
}  // namespace membound::vgpu::memory
