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

TEST(SharedBanks, LanesTwoApartDoNotMerge) {
  std::array<std::uint32_t, 32> a;
  for (std::uint32_t lane = 0; lane < 32; ++lane) a[lane] = (lane & ~2u) * 8;
  EXPECT_EQ(shared_wavefronts(a.data(), ~0u, 8, true).taken, 2u);
}

TEST(SharedBanks, OnlyActiveHalvesCount) {
  EXPECT_EQ(shared_wavefronts(strided(8).data(), 0xFFFFu, 8, true).taken, 1u);
  EXPECT_EQ(shared_wavefronts(strided(4).data(), 0u, 4, true).taken, 0u);
}

TEST(SharedBanks, AtomicsOnOneWordTakeTurns) {
  EXPECT_EQ(shared_atomic_wavefronts(strided(0).data(), ~0u, 4).taken, 32u);
  EXPECT_EQ(shared_atomic_wavefronts(strided(4).data(), ~0u, 4).taken, 1u);
}

}  // namespace
}  // namespace membound::vgpu::memory
