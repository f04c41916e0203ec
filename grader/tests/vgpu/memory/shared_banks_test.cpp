// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/shared_banks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace membound::vgpu::memory {
namespace {

std::array<std::uint32_t, 32> strided(std::uint32_t stride) {
  std::array<std::uint32_t, 32> a;
  for (std::uint32_t lane = 0; lane < 32; ++lane) a[lane] = lane * stride;
  return a;
}

TEST(SharedBanks, AStrideOfNWordsConflictsGcdTimes) {
  for (std::uint32_t words = 1; words <= 64; ++words)
    EXPECT_EQ(shared_wavefronts(strided(words * 4).data(), ~0u, 4, true).taken,
              std::gcd(words, 32u))
        << words;
}

TEST(SharedBanks, OneWordForAllIsABroadcast) {
  EXPECT_EQ(shared_wavefronts(strided(0).data(), ~0u, 4, true).taken, 1u);
}

TEST(SharedBanks, ContiguousEightAndSixteenBytesTakeTwoAndFourPasses) {
  EXPECT_EQ(shared_wavefronts(strided(8).data(), ~0u, 8, true).taken, 2u);
  EXPECT_EQ(shared_wavefronts(strided(16).data(), ~0u, 16, true).taken, 4u);
}

TEST(SharedBanks, NeighboursThatReadTheSameHalveThePasses) {
  std::array<std::uint32_t, 32> pairs;
  for (std::uint32_t lane = 0; lane < 32; ++lane) pairs[lane] = lane / 2 * 8;
  EXPECT_EQ(shared_wavefronts(pairs.data(), ~0u, 8, true).taken, 1u);
  EXPECT_EQ(shared_wavefronts(pairs.data(), ~0u, 8, true).ideal, 1u);
  EXPECT_EQ(shared_wavefronts(pairs.data(), ~0u, 8, false).taken, 2u) << "stores never merge";
}

TEST(SharedBanks, LanesTwoApartHalveThePassesUnlessTheirWordsConflict) {
  std::array<std::uint32_t, 32> close, wide;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    close[lane] = (lane / 4 * 2 + lane % 2) * 8;
    wide[lane] = (lane & ~2u) * 8;  // banks 0 … 3 twice
  }
  EXPECT_EQ(shared_wavefronts(close.data(), ~0u, 8, true).taken, 1u);
  EXPECT_EQ(shared_wavefronts(wide.data(), ~0u, 8, true).taken, 2u);
}

TEST(SharedBanks, IdealIsWhatActiveLanesFill) {
  EXPECT_EQ(shared_wavefronts(strided(8).data(), 0xAAAAAAAAu, 8, false).taken, 2u);
  EXPECT_EQ(shared_wavefronts(strided(8).data(), 0xAAAAAAAAu, 8, false).ideal, 1u);
}

TEST(SharedBanks, OnlyActiveHalvesCount) {
  EXPECT_EQ(shared_wavefronts(strided(8).data(), 0xFFFFu, 8, true).taken, 1u);
  EXPECT_EQ(shared_wavefronts(strided(4).data(), 0u, 4, true).taken, 0u);
}

TEST(SharedBanks, AtomicsOnOneWordTakeTurns) {
  EXPECT_EQ(shared_atomic_wavefronts(strided(0).data(), ~0u, 4, false).taken, 32u);
  EXPECT_EQ(shared_atomic_wavefronts(strided(4).data(), ~0u, 4, false).taken, 1u);
  EXPECT_EQ(shared_atomic_wavefronts(strided(4).data(), ~0u, 4, true).taken, 2u) << "a swap: twice";
}

TEST(SharedBanks, AnAtomicMadeOfALoopServesOneLaneABankInEachRound) {
  const AtomicLoop one_word = shared_atomic_loop(strided(0).data(), ~0u, 4);
  EXPECT_EQ(one_word.turns, 32u);
  EXPECT_EQ(one_word.loads.taken, 32u) << "a broadcast each";
  const AtomicLoop one_bank = shared_atomic_loop(strided(128).data(), ~0u, 4);
  EXPECT_EQ(one_bank.turns, 32u);
  EXPECT_EQ(one_bank.loads.taken, 528u) << "32 + 31 + … + 1";
  EXPECT_EQ(shared_atomic_loop(strided(256).data(), ~0u, 8).turns, 16u) << "two halves at a time";
}

TEST(SharedBanks, A64BitSwapIdeallyWritesItsLanesBytesAfterTwoPassesThatLook) {
  EXPECT_EQ(shared_atomic_loop(strided(8).data(), ~0u, 8).swaps.ideal, 4u) << "32 lanes at once";
  EXPECT_EQ(shared_atomic_loop(strided(16).data(), ~0u, 8).swaps.ideal, 6u) << "16, then 16";
  EXPECT_EQ(shared_atomic_loop(strided(256).data(), ~0u, 8).swaps.ideal, 48u) << "2, 16 times";
  EXPECT_EQ(shared_atomic_loop(strided(0).data(), ~0u, 8).swaps.ideal, 96u) << "1, 32 times";
}

/// One warp of h200_shared_loads.csv.
struct MeasuredLoad {
  std::uint32_t bytes = 0, mask = 0;
  int passes = 0;
  std::array<std::uint32_t, 32> offsets{};
};

std::vector<MeasuredLoad> measured_loads() {
  std::vector<MeasuredLoad> loads;
  std::ifstream file(MEMBOUND_SHARED_LOADS);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream cells(line);
    const auto next = [&] {
      std::string cell;
      std::getline(cells, cell, ',');
      return std::atoi(cell.c_str());
    };
    MeasuredLoad& load = loads.emplace_back();
    load.bytes = static_cast<std::uint32_t>(next());
    load.passes = next();
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      const int element = next();
      if (element < 0) continue;
      load.mask |= 1u << lane;
      load.offsets[lane] = static_cast<std::uint32_t>(element) * load.bytes;
    }
  }
  return loads;
}

int passes_of(const MeasuredLoad& load) {
  return static_cast<int>(
      shared_wavefronts(load.offsets.data(), load.mask, load.bytes, true).taken);
}

TEST(SharedBanksOnAnH200, WideLoadsOfWholeWarpsTakeTheMeasuredPasses) {
  int warps = 0;
  for (const MeasuredLoad& load : measured_loads()) {
    if (load.mask != ~0u) continue;
    EXPECT_EQ(passes_of(load), load.passes) << load.bytes << " bytes, whole warp " << warps;
    ++warps;
  }
  EXPECT_EQ(warps, 127);
}

// Which lanes go together when some are off is not known: docs/counters.md states these numbers.
TEST(SharedBanksOnAnH200, WideLoadsWithLanesOffAreAtMostTwoPassesOff) {
  int equal_16 = 0, equal_8 = 0;
  for (const MeasuredLoad& load : measured_loads()) {
    if (load.mask == ~0u) continue;
    EXPECT_LE(std::abs(passes_of(load) - load.passes), 2);
    if (passes_of(load) == load.passes) ++(load.bytes == 16 ? equal_16 : equal_8);
  }
  EXPECT_EQ(equal_16, 77) << "of 112";
  EXPECT_EQ(equal_8, 73) << "of 75";
}

}  // namespace
}  // namespace membound::vgpu::memory
