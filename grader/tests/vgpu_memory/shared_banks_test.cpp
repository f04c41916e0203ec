// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/shared_banks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

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
  EXPECT_EQ(one_word.rounds, 32u);
  EXPECT_EQ(one_word.loads.taken, 32u) << "a broadcast each";
  const AtomicLoop one_bank = shared_atomic_loop(strided(128).data(), ~0u, 4);
  EXPECT_EQ(one_bank.rounds, 32u);
  EXPECT_EQ(one_bank.loads.taken, 528u) << "32 + 31 + … + 1";
  EXPECT_EQ(shared_atomic_loop(strided(256).data(), ~0u, 8).rounds, 16u) << "two halves at a time";
}

}  // namespace
}  // namespace membound::vgpu::memory
