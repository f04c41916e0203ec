// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "grader/vgpu/exec/traffic/l2_residency.hpp"
#include "grader/vgpu/exec/traffic/line_sampling.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr KeptBytes kKept{1'000'000, 1'000'000};
/// What one use of a piece stands for is far more than is kept, or next to nothing of it.
constexpr KeptBytes kNothingKept{1, 1}, kAllKept{~std::uint64_t{0} >> 1, ~std::uint64_t{0} >> 1};
/// Sectors of both pieces of a line, or of the first one.
constexpr std::uint32_t kBoth = 0b0101, kFirstHalf = 0b0010;
/// How loads of what was there before are filed.
constexpr std::uint8_t kBucket = 20;

LoadedSectors first(std::uint32_t sectors) { return LoadedSectors::all_first(sectors); }
LoadedSectors again(std::uint32_t sectors) {
  LoadedSectors loaded = first(sectors);
  loaded.first = 0;
  for (std::uint8_t& filed : loaded.filed) filed = filed == 0 ? 0 : kBucket + 1;
  return loaded;
}

LineBytes bytes(std::uint32_t begin, std::uint32_t end) {
  LineBytes some;
  some.add(begin, end);
  return some;
}

/// One piece is stored to in these parts, at times far apart.
PieceCounts after_stores(const std::vector<LineBytes>& parts, const KeptBytes& kept) {
  LineTimes times;
  std::uint32_t clock = 0;
  for (const LineBytes& part : parts) {
    times.store(5, clock, part);
    for (std::uint64_t other = 100; other < 200; ++other)
      times.store(other, clock + 50, bytes(0, 128));
    clock += 100;
  }
  return times.counts(kept);
}

TEST(LineTimes, APartOfASectorIsFilledWhenItLeaves) {
  EXPECT_EQ(after_stores({bytes(0, 4)}, kNothingKept).filled, 1u);
  EXPECT_EQ(after_stores({bytes(0, 4)}, kAllKept).filled, 0u) << "it stays in L2";
  EXPECT_EQ(after_stores({bytes(0, 64)}, kNothingKept).filled, 0u) << "nothing is missing";
}

TEST(LineTimes, WhatIsStoredSoonAfterFillsIt) {
  const std::vector<LineBytes> halves{bytes(0, 20), bytes(20, 64)};
  EXPECT_EQ(after_stores(halves, kAllKept).filled, 0u);
  EXPECT_EQ(after_stores(halves, kNothingKept).filled, 2u) << "the first part had left by then";
}

TEST(LineTimes, StoresLeaveLittleByLittle) {
  // A thousand lines get a word each, and the next one when so many bytes were wanted.
  const auto share_filled = [](double kept_bytes) {
    constexpr std::uint64_t kLines = 1000;
    LineTimes times;
    for (std::uint32_t clock : {0u, 100u})
      for (std::uint64_t line = 0; line < kLines; ++line)
        times.store(line, clock, bytes(clock / 25, clock / 25 + 4));
    const double between = static_cast<double>(kLines * 128 * kLinesPerSample);
    KeptBytes kept{1, static_cast<std::uint64_t>(between * kept_bytes)};
    kept.to_the_end = false;
    return static_cast<double>(times.counts(kept).filled) / static_cast<double>(kLines);
  };
  EXPECT_GT(share_filled(0.3), 0.99);
  EXPECT_NEAR(share_filled(1), 0.632, 0.01);
  EXPECT_NEAR(share_filled(2), 0.1175, 0.01);
  EXPECT_LT(share_filled(20), 0.01);
}

TEST(LineTimes, OfASampleNobodyKnowsWhatItsEndWouldHaveBeen) {
  KeptBytes kept = kNothingKept;
  EXPECT_EQ(after_stores({bytes(0, 4)}, kept).filled, 1u);
  kept.to_the_end = false;
  EXPECT_EQ(after_stores({bytes(0, 4)}, kept).filled, 0u);
  EXPECT_FALSE(kept_in_l2(1 << 20, 1 << 20, 0, 0.5).to_the_end);
  EXPECT_TRUE(kept_in_l2(1 << 20, 1 << 20, 0).to_the_end);
  EXPECT_EQ(kept_in_l2(1 << 20, 1 << 20, 0, 0.5).stored, kept_in_l2(1 << 20, 1 << 19, 0).stored);
}

TEST(LineTimes, OneWholeSectorOfTwoIsHalfAPiece) {
  const PieceCounts counts = after_stores({bytes(32, 64)}, kNothingKept);
  EXPECT_EQ(counts.halves, 1u);
  EXPECT_EQ(counts.filled, 0u);
}

TEST(LineTimes, TwoPartsOfSectorsAreFetchedAsOnePiece) {
  const PieceCounts counts = after_stores({bytes(8, 12), bytes(40, 44)}, kAllKept);
  EXPECT_EQ(counts.fetched, 0u) << "they stay";
  LineTimes times;
  times.store(5, 0, bytes(8, 12));
  times.store(5, 0, bytes(40, 44));
  times.store(100, 64, bytes(0, 128));
  EXPECT_EQ(times.counts(kNothingKept).fetched, 1u);
}

TEST(LineTimes, PiecesAreFetchedAgainOnceOthersHaveTakenTheirPlace) {
  LineTimes times;
  for (std::uint64_t line = 0; line < 100; ++line)
    times.load(line, static_cast<std::uint32_t>(line), first(kBoth));
  times.load(0, 120, again(kBoth));
  EXPECT_EQ(times.counts(kAllKept).fetched, 200u);
  EXPECT_EQ(times.counts({10 * 128 * kLinesPerSample, 0}).fetched, 202u);
}

TEST(LineTimes, WhatL1ServesIsNotWantedFromL2) {
  LineTimes times;
  for (const std::uint32_t clock : {0u, 100u})
    for (std::uint64_t line = 0; line < 100; ++line)
      times.load(line, clock, clock == 0 ? first(kBoth) : again(kBoth));
  EXPECT_EQ(times.counts(kNothingKept, kBucket).fetched, 400u);
  EXPECT_EQ(times.counts(kNothingKept, kBucket + 1).fetched, 200u);
}

TEST(LineTimes, TheEarliestLoadIsNotServedThoughAnotherCameFirst) {
  LineTimes times;  // of two blocks of an SM, the one that ran first here loads later
  times.load(1, 90, first(kFirstHalf));
  times.load(1, 0, again(kFirstHalf));
  const PieceCounts counts = times.counts(kAllKept, kBucket + 1);
  EXPECT_EQ(counts.fetched, 1u);
  EXPECT_EQ(counts.waiting, 0u) << "it was fetched at 0";
}

TEST(LineTimes, APieceIsAloneIfItsNeighbourIsNotWantedSoon) {
  LineTimes times;
  times.load(1, 0, first(kFirstHalf));
  times.load(2, 0, first(kBoth));
  const PieceCounts counts = times.counts(kAllKept);
  EXPECT_EQ(counts.fetched, 3u);
  EXPECT_EQ(counts.lone, 1u);
}

TEST(LineTimes, WhoAsksWhileAPieceIsUnderWayWaitsAsWell) {
  LineTimes times;
  times.load(1, 0, first(kFirstHalf));
  times.load(1, 1, first(kFirstHalf));  // another SM
  times.load(1, 90, first(kFirstHalf));
  const PieceCounts counts = times.counts(kAllKept);
  EXPECT_EQ(counts.wanted, 3u);
  EXPECT_EQ(counts.waiting, 2u);
}

TEST(LineTimes, TheOrderOfCallsDoesNotMatter) {
  LineTimes forwards, backwards;
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::uint32_t j = 299 - i;
    forwards.load(i % 7, i, again(kBoth)), backwards.load(j % 7, j, again(kBoth));
    forwards.load(i % 9, i, first(kFirstHalf)), backwards.load(j % 9, j, first(kFirstHalf));
    forwards.store(i % 5, i, bytes(i % 64, i % 64 + 4));
    backwards.store(j % 5, j, bytes(j % 64, j % 64 + 4));
  }
  const PieceCounts a = forwards.counts(kKept), b = backwards.counts(kKept);
  EXPECT_EQ(a.fetched, b.fetched);
  EXPECT_EQ(a.waiting, b.waiting);
  EXPECT_EQ(a.filled, b.filled);
  EXPECT_EQ(a.halves, b.halves);
}

}  // namespace

namespace {

constexpr std::uint64_t kLaunchBlocks = 64;
/// Lines that a block stores to, all of them watched and standing for 64.
constexpr std::uint64_t kLinesOfBlock = 4, kBytesOfBlock = kLinesOfBlock * 128 * kLinesPerSample;

LineBytes word(std::uint32_t number) {
  LineBytes bytes;
  bytes.add(4 * number, 4 * number + 4);
  return bytes;
}

/// Each block stores a word to lines of its own; then `late` blocks further on another one stores
/// the next word, and so on, until `words` are there. How many stores are unfinished?
std::uint64_t unfinished(std::uint64_t late, std::uint32_t words, double dirty_blocks) {
  PartialStores parts(kLaunchBlocks);
  for (std::uint64_t block = 0; block < kLaunchBlocks; ++block)
    for (std::uint64_t line = 0; line < kLinesOfBlock; ++line)
      for (std::uint32_t number = 0; number < words; ++number)
        parts.add(block * kLinesOfBlock + line, 0, block + late * number, word(number));
  return parts.unfinished(dirty_blocks * kBytesOfBlock, kLaunchBlocks, 1);
}

TEST(PartialStores, AreFinishedByTheSameBlock) {
  EXPECT_EQ(unfinished(0, 8, 0), 0u);
  EXPECT_EQ(unfinished(0, 32, 0), 0u);
}

TEST(PartialStores, StayUnfinishedWhereTheRestNeverComes) {
  EXPECT_EQ(unfinished(0, 7, 1e9), 7 * kLinesOfBlock * kLaunchBlocks * kLinesPerSample);
}

TEST(PartialStores, AreFinishedByBlocksThatFollowSoon) {
  // Of eight stores to a line each comes two blocks later.
  EXPECT_EQ(unfinished(2, 8, 20), 0u);
  EXPECT_EQ(unfinished(2, 8, 1), 8 * kLinesOfBlock * kLaunchBlocks * kLinesPerSample);
}

TEST(PartialStores, AreFarApartInTimeToo) {
  PartialStores parts(1);
  for (std::uint32_t number = 0; number < 8; ++number)
    for (std::uint64_t line = 0; line < 100; ++line)
      parts.add(line, 1000 * number, 0, word(number));
  const double between = 100.0 * 128 * kLinesPerSample;
  EXPECT_EQ(parts.unfinished(2 * between, 1, 1), 0u);
  EXPECT_EQ(parts.unfinished(between / 2, 1, 1), 800 * kLinesPerSample);
  EXPECT_EQ(parts.unfinished(2 * between, 1, 0.25), 800 * kLinesPerSample)
      << "the rest runs as well";
}

TEST(PartialStores, TheOrderOfCallsDoesNotMatter) {
  PartialStores forwards(5000), backwards(5000);
  const auto add = [](PartialStores& parts, std::uint32_t i) {
    parts.add(i % 7, i * 37 % 900, i * 53 % 5000, word(i * 11 % 32));
  };
  for (std::uint32_t i = 0; i < 1000; ++i) add(forwards, i), add(backwards, 999 - i);
  EXPECT_EQ(forwards.unfinished(1e6, 5000, 1), backwards.unfinished(1e6, 5000, 1));
}

}  // namespace

}  // namespace membound::vgpu::exec
