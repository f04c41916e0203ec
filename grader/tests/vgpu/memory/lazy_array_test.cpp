// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/vgpu/memory/address_space.hpp"
#include "grader/vgpu/memory/lazy_array.hpp"

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kBytes = std::uint64_t{16} << 20;

/// An array whose byte at offset o is o / 512.
class LazyArrayTest : public ::testing::Test {
 protected:
  void SetUp() override {
    address_ = space_.allocate(kBytes, 256, {}).value();
    ASSERT_TRUE(space_.generate_lazily(address_, [this](auto offset, std::byte* to, auto bytes) {
      ++chunks_;
      std::fill_n(to, bytes, std::byte(offset / 512));
    }));
  }
  std::byte at(std::uint64_t offset) {
    std::byte value{};
    EXPECT_TRUE(space_.copy_out(&value, address_ + offset, 1));
    return value;
  }

  AddressSpace space_{64 << 20};
  std::uint64_t address_ = 0;
  std::atomic<int> chunks_ = 0;
};

TEST_F(LazyArrayTest, OnlyWhatIsTouchedIsMadeAndOnce) {
  EXPECT_EQ(at(1024), std::byte{2});
  EXPECT_EQ(at(1535), std::byte{2});
  EXPECT_EQ(at(kBytes - 1), std::byte((kBytes - 1) / 512));
  EXPECT_EQ(chunks_, 2);
  const LazyArray& array = *space_.lazy_at(address_);
  EXPECT_TRUE(array.find(1024) && array.find(1535) && array.find(kBytes - 1));
  EXPECT_FALSE(array.find(1023) || array.find(1536) || array.find(kBytes - 513));
}

TEST_F(LazyArrayTest, ChunksFarApartLieCloseTogether) {
  at(0);
  at(8 << 20);
  const LazyArray& array = *space_.lazy_at(address_);
  EXPECT_EQ(array.find(8 << 20) - array.find(0), 512);
}

TEST_F(LazyArrayTest, TheNextOneOfItsSizeStartsWithNothing) {
  at(1024);
  ASSERT_TRUE(space_.free(address_));
  SetUp();
  EXPECT_FALSE(space_.lazy_at(address_)->was_touched());
  EXPECT_EQ(space_.lazy_at(address_)->find(1024), nullptr);
}

// Chunks that were touched in another order do not lie side by side.
TEST(LazyArray, OneOfManyGigabytesCostsWhatIsTouchedOfIt) {
  constexpr std::uint64_t kLarge = std::uint64_t{1} << 36;
  for (int i = 0; i < 2; ++i) {
    LazyArray array(kLarge, [](std::uint64_t offset, std::byte* to, std::uint64_t bytes) {
      std::fill_n(to, bytes, std::byte(offset >> 30));
    });
    EXPECT_FALSE(array.was_touched());
    EXPECT_EQ(*array.make_in_chunk(kLarge - 1), std::byte{63});
    EXPECT_EQ(*array.make_in_chunk(kLarge / 2), std::byte{32});
    EXPECT_EQ(array.made_bytes(), 2 * LazyArray::kChunkBytes);
    EXPECT_EQ(array.find(0), nullptr);
  }
}

TEST_F(LazyArrayTest, TheHostMayCopyMuchOfItAtOnce) {
  at(1024);
  at(512);
  const std::byte mark{0xEE};
  ASSERT_TRUE(space_.copy_in(address_ + 1030, &mark, 1));
  std::vector<std::byte> all(4096);
  ASSERT_TRUE(space_.copy_out(all.data(), address_, all.size()));
  EXPECT_EQ(space_.lazy_at(address_), nullptr);
  EXPECT_EQ(all[0], std::byte{0});
  EXPECT_EQ(all[600], std::byte{1});
  EXPECT_EQ(all[1030], mark);
  EXPECT_EQ(all[4095], std::byte{7});
  EXPECT_EQ(at(kBytes - 1), std::byte((kBytes - 1) / 512));
}

TEST_F(LazyArrayTest, TellsWhetherAnOutputWasTouched) {
  const auto output = space_.allocate(kBytes, 256, {}).value();
  ASSERT_TRUE(space_.generate_lazily(
      output, [](auto, std::byte*, auto) {}, true));
  EXPECT_EQ(at(0), std::byte{0});
  EXPECT_FALSE(space_.lazy_output_was_touched());
  std::byte value{};
  EXPECT_TRUE(space_.copy_out(&value, output + kBytes - 1, 1));
  EXPECT_TRUE(space_.lazy_output_was_touched());
}

TEST_F(LazyArrayTest, TellsWhetherWhatWasTouchedIsAsItWasMade) {
  const LazyArray& array = *space_.lazy_at(address_);
  EXPECT_TRUE(array.is_as_made());
  EXPECT_EQ(at(kBytes - 1), std::byte((kBytes - 1) / 512));
  EXPECT_TRUE(array.is_as_made());
  const std::byte same{(1024 / 512)}, other{77};
  ASSERT_TRUE(space_.copy_in(address_ + 1024, &same, 1));
  EXPECT_TRUE(array.is_as_made());
  ASSERT_TRUE(space_.copy_in(address_ + 1024, &other, 1));
  EXPECT_FALSE(array.is_as_made());
}

TEST_F(LazyArrayTest, IsFoundByAnyAddressInIt) {
  const auto last = space_.lazy_about(address_ + kBytes - 4);
  ASSERT_EQ(last.array, space_.lazy_at(address_));
  EXPECT_TRUE(last.holds(address_, 8));
  EXPECT_TRUE(last.holds(address_ + kBytes - 4, 4));
  EXPECT_FALSE(last.holds(address_ + kBytes - 4, 8));
  EXPECT_FALSE(last.holds(address_ - 4, 4));
  EXPECT_EQ(space_.lazy_about(address_ + kBytes).array, nullptr);
  EXPECT_FALSE(AddressSpace::LazyPlace{}.holds(0, 0));
}

TEST_F(LazyArrayTest, AKernelMayTouchWhatIsThere) {
  const auto span = space_.span_of(address_ + 700, false);
  ASSERT_TRUE(span);
  EXPECT_EQ(span->begin, address_ + 512);
  EXPECT_EQ(span->end, address_ + 1024);
  at(1024);
  EXPECT_EQ(space_.span_of(address_ + 700, false)->end, address_ + 1536) << "neighbours are one";
}

TEST_F(LazyArrayTest, WhatLiesBesideDoesNotReachInto) {
  const auto beside = space_.allocate(512, 256, {}).value();
  ASSERT_GT(beside, address_);
  EXPECT_GE(space_.span_of(beside, false)->begin, address_ + kBytes);
  EXPECT_EQ(chunks_, 0);
}

TEST_F(LazyArrayTest, WrittenBytesStayAndAreShownInOrder) {
  const std::byte mark{0xEE};
  space_.copy_in(address_ + 5000, &mark, 1);
  at(0);
  std::vector<std::uint64_t> begins;
  space_.lazy_at(address_)->each_made([&](auto offset, auto) { begins.push_back(offset); });
  EXPECT_THAT(begins, testing::ElementsAre(0, 4608));
  EXPECT_EQ(at(5000), mark);
  EXPECT_EQ(at(5001), std::byte{9}) << "the rest of the chunk is as it was drawn";
}

TEST_F(LazyArrayTest, TheHostMayWriteAllOfItAnew) {
  space_.fill(address_, std::byte{5}, kBytes);
  EXPECT_EQ(space_.lazy_at(address_), nullptr);
  EXPECT_EQ(at(123456), std::byte{5});
  EXPECT_EQ(chunks_, 0);
}

TEST_F(LazyArrayTest, ThreadsThatMeetMakeAPieceOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (std::uint64_t offset = 0; offset < kBytes; offset += 4096)
        EXPECT_TRUE(space_.span_of(address_ + offset, false));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(chunks_, kBytes / 4096);
}

}  // namespace

}  // namespace membound::vgpu::memory
