// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// On the virtual GPU, which reserves memory that nobody touches. What a runner on a GPU keeps,
/// this one keeps too where it is told to.
#include "grader/sandbox/runner/device_memory.hpp"

#include <gtest/gtest.h>

namespace membound::runner {
namespace {

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

std::uint64_t total_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return total;
}

std::uint64_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

TEST(DeviceMemory, GivesWhatWasFreedOnceMore) {
  DeviceMemory memory(8 * kGib);
  void *first = nullptr, *second = nullptr;
  ASSERT_EQ(memory.allocate(2 * kGib, first), cudaSuccess);
  EXPECT_EQ(memory.free(first, 2 * kGib), cudaSuccess);
  EXPECT_EQ(memory.kept_bytes(), 2 * kGib);
  ASSERT_EQ(memory.allocate(kGib, second), cudaSuccess);
  EXPECT_EQ(second, first);
  EXPECT_EQ(memory.kept_bytes(), 0U);
  EXPECT_EQ(memory.free(second, kGib), cudaSuccess);
  EXPECT_EQ(memory.kept_bytes(), 2 * kGib) << "all of it, not what was asked for the second time";
}

TEST(DeviceMemory, IsAllGivenBackInTheEnd) {
  const std::uint64_t before = free_bytes();
  {
    DeviceMemory memory(8 * kGib);
    void* data = nullptr;
    ASSERT_EQ(memory.allocate(kGib, data), cudaSuccess);
    EXPECT_EQ(memory.free(data, kGib), cudaSuccess);
    EXPECT_LE(free_bytes(), before - kGib);
  }
  EXPECT_EQ(free_bytes(), before);
}

TEST(DeviceMemory, NothingKeptIsMissingToWhoeverWantsMuch) {
  const std::uint64_t all = total_bytes();
  DeviceMemory memory(all);
  void *kept = nullptr, *large = nullptr;
  ASSERT_EQ(memory.allocate(all / 4 * 3, kept), cudaSuccess);
  EXPECT_EQ(memory.free(kept, all / 4 * 3), cudaSuccess);
  // More than half of it would be the kept range itself.
  ASSERT_EQ(memory.allocate(all / 8 * 7, large), cudaSuccess);
  EXPECT_EQ(memory.kept_bytes(), 0U);
  EXPECT_EQ(memory.free(large, all / 8 * 7), cudaSuccess);
  EXPECT_EQ(memory.allocate(2 * all, large), cudaErrorMemoryAllocation);
}

TEST(DeviceMemory, KeepsNothingOnTheVirtualGpuWhereNobodySaysSo) {
  const std::uint64_t before = free_bytes();
  DeviceMemory memory(DeviceMemory::usual_kept_bytes());
  void* data = nullptr;
  ASSERT_EQ(memory.allocate(kGib, data), cudaSuccess);
  EXPECT_EQ(memory.free(data, kGib), cudaSuccess);
  EXPECT_EQ(memory.kept_bytes(), 0U);
  EXPECT_EQ(free_bytes(), before);
}

}  // namespace
}  // namespace membound::runner
