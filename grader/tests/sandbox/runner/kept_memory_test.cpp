// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/sandbox/runner/device_memory.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>

namespace membound::runner {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

std::vector<std::uint64_t> addresses(const std::vector<MemoryRange>& ranges) {
  std::vector<std::uint64_t> all;
  for (const MemoryRange& range : ranges) all.push_back(range.address);
  return all;
}

TEST(KeptMemory, GivesTheSmallestRangeThatWillDo) {
  KeptMemory kept(100 * kGib);
  for (const std::uint64_t size : {8, 2, 4})
    EXPECT_TRUE(kept.keep({.address = size, .bytes = size * kGib}).empty());
  const auto range = kept.take(3 * kGib);
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->address, 4U);
  EXPECT_EQ(range->bytes, 4 * kGib);
  EXPECT_EQ(kept.bytes(), 10 * kGib);
}

TEST(KeptMemory, GivesNoneThatIsMoreThanTwiceAsLarge) {
  KeptMemory kept(100 * kGib);
  EXPECT_TRUE(kept.keep({.address = 1, .bytes = 8 * kGib}).empty());
  EXPECT_FALSE(kept.take(3 * kGib).has_value());
  EXPECT_TRUE(kept.take(4 * kGib).has_value());
}

TEST(KeptMemory, LeavesSmallOnesToTheRuntime) {
  KeptMemory kept(100 * kGib);
  const MemoryRange small{.address = 1, .bytes = KeptMemory::kLeastBytes - 1};
  EXPECT_EQ(addresses(kept.keep(small)), std::vector<std::uint64_t>{1});
  EXPECT_EQ(kept.bytes(), 0U);
}

TEST(KeptMemory, FreesTheSmallestOnesWhereThereIsTooMuch) {
  KeptMemory kept(10 * kGib);
  EXPECT_TRUE(kept.keep({.address = 3, .bytes = 3 * kGib}).empty());
  EXPECT_TRUE(kept.keep({.address = 1, .bytes = 1 * kGib}).empty());
  EXPECT_EQ(addresses(kept.keep({.address = 8, .bytes = 8 * kGib})),
            (std::vector<std::uint64_t>{1, 3}));
  EXPECT_EQ(addresses(kept.keep({.address = 11, .bytes = 11 * kGib})),
            (std::vector<std::uint64_t>{8, 11}));
  EXPECT_EQ(kept.bytes(), 0U);
}

// The arrays of floats and of doubles in turn, and what is compared, on both sides of a run.
TEST(KeptMemory, ServesAllStagesWithTheRangesOfTheFirst) {
  KeptMemory kept(34 * kGib);
  std::uint64_t next = 1;
  int allocated = 0;
  for (int stage = 0; stage < 6; ++stage)
    for (const std::uint64_t size : {1, 2}) {
      std::vector<MemoryRange> used;
      for (const std::uint64_t bytes : {4 * size * kGib, 4 * size * kGib, size * kGib}) {
        auto range = kept.take(bytes);
        if (!range) ++allocated;
        used.push_back(range.value_or(MemoryRange{next++, bytes}));
      }
      for (const MemoryRange& range : used) EXPECT_TRUE(kept.keep(range).empty());
    }
  EXPECT_EQ(allocated, 5) << "of 36";
}

TEST(KeptMemory, LosesNothingAndGivesNothingTwice) {
  std::mt19937_64 random(7);
  KeptMemory kept(20 * kGib);
  std::map<std::uint64_t, std::uint64_t> there;  // kept, by address
  for (std::uint64_t next = 1; next < 3000; ++next) {
    const std::uint64_t bytes = random() % (6 * kGib);
    if (random() % 2 == 0) {
      there[next] = bytes;
      for (const MemoryRange& freed : kept.keep({next, bytes}))
        EXPECT_EQ(there.erase(freed.address), 1U);
    } else if (const auto range = kept.take(bytes)) {
      EXPECT_GE(range->bytes, bytes);
      EXPECT_EQ(there.at(range->address), range->bytes);
      there.erase(range->address);
    }
    std::uint64_t sum = 0;
    for (const auto& [address, size] : there) sum += size;
    ASSERT_EQ(kept.bytes(), sum);
    ASSERT_LE(sum, 20 * kGib);
  }
  EXPECT_EQ(kept.take_all().size(), there.size());
  EXPECT_EQ(kept.bytes(), 0U);
}

}  // namespace
}  // namespace membound::runner
