// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/address_sets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace membound::vgpu::memory {
namespace {

TEST(HotWords, NothingIsHotAtFirst) { EXPECT_EQ(HotWords().hottest(), 0u); }

TEST(HotWords, CountsAnAddressThatComesAgainAndAgain) {
  HotWords words;
  for (int i = 0; i < 1000; ++i) words.add(64, 2);
  EXPECT_EQ(words.hottest(), 2000u);
}

TEST(HotWords, AnyOrderOverSeveralTablesEqualsAMap) {
  std::mt19937 random(1);
  std::map<std::uint64_t, std::uint64_t> expected;
  std::array<HotWords, 3> tables;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t address = random() % 5000 * 4;
    ++expected[address];
    tables[random() % 3].add(address, 1);
  }
  HotWords all;
  for (HotWords& table : tables) all.add(table);
  std::uint64_t most = 0;
  for (const auto& [address, count] : expected) most = std::max(most, count);
  EXPECT_EQ(all.hottest(), most);
}

}  // namespace
}  // namespace membound::vgpu::memory
