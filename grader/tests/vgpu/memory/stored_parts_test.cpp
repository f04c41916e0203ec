// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/stored_parts.hpp"

#include <gtest/gtest.h>

#include "grader/vgpu/memory/watched_lines.hpp"

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kBlocks = 64;
/// Lines that a block stores to, all of them watched and standing for 64.
constexpr std::uint64_t kLinesOfBlock = 4, kBytesOfBlock = kLinesOfBlock * 128 * kWatchedOf;

LineBytes word(std::uint32_t number) {
  LineBytes bytes;
  bytes.add(4 * number, 4 * number + 4);
  return bytes;
}

/// Each block stores a word to lines of its own; then `late` blocks further on another one stores
/// the next word, and so on, until `words` are there. How many stores are unfinished?
std::uint64_t unfinished(std::uint64_t late, std::uint32_t words, double dirty_blocks) {
  StoredParts parts(kBlocks);
  for (std::uint64_t block = 0; block < kBlocks; ++block)
    for (std::uint64_t line = 0; line < kLinesOfBlock; ++line)
      for (std::uint32_t number = 0; number < words; ++number)
        parts.add(block * kLinesOfBlock + line, 0, block + late * number, word(number));
  return parts.unfinished(dirty_blocks * kBytesOfBlock, kBlocks, 1);
}

TEST(StoredParts, AreFinishedByTheSameBlock) {
  EXPECT_EQ(unfinished(0, 8, 0), 0u);
  EXPECT_EQ(unfinished(0, 32, 0), 0u);
}

TEST(StoredParts, StayUnfinishedWhereTheRestNeverComes) {
  EXPECT_EQ(unfinished(0, 7, 1e9), 7 * kLinesOfBlock * kBlocks * kWatchedOf);
}

TEST(StoredParts, AreFinishedByBlocksThatFollowSoon) {
  // Of eight stores to a line each comes two blocks later.
  EXPECT_EQ(unfinished(2, 8, 20), 0u);
  EXPECT_EQ(unfinished(2, 8, 1), 8 * kLinesOfBlock * kBlocks * kWatchedOf);
}

TEST(StoredParts, AreFarApartInTimeToo) {
  StoredParts parts(1);
  for (std::uint32_t number = 0; number < 8; ++number)
    for (std::uint64_t line = 0; line < 100; ++line)
      parts.add(line, 1000 * number, 0, word(number));
  const double between = 100.0 * 128 * kWatchedOf;
  EXPECT_EQ(parts.unfinished(2 * between, 1, 1), 0u);
  EXPECT_EQ(parts.unfinished(between / 2, 1, 1), 800 * kWatchedOf);
  EXPECT_EQ(parts.unfinished(2 * between, 1, 0.25), 800 * kWatchedOf) << "the rest runs as well";
}

TEST(StoredParts, TheOrderOfCallsDoesNotMatter) {
  StoredParts forwards(5000), backwards(5000);
  const auto add = [](StoredParts& parts, std::uint32_t i) {
    parts.add(i % 7, i * 37 % 900, i * 53 % 5000, word(i * 11 % 32));
  };
  for (std::uint32_t i = 0; i < 1000; ++i) add(forwards, i), add(backwards, 999 - i);
  EXPECT_EQ(forwards.unfinished(1e6, 5000, 1), backwards.unfinished(1e6, 5000, 1));
}

}  // namespace
}  // namespace membound::vgpu::memory
