// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/address_space.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace membound::vgpu::memory {
namespace {

class AddressSpaceTest : public ::testing::Test {
 protected:
  AddressSpace space_{64 << 20};
};

TEST_F(AddressSpaceTest, WhatWasCopiedInComesOut) {
  const auto address = space_.allocate(1000, 1, {});
  ASSERT_TRUE(address);
  std::vector<int> in{1, 2, 3}, out(3);
  EXPECT_TRUE(space_.copy_in(*address, in.data(), 12));
  EXPECT_TRUE(space_.copy_out(out.data(), *address, 12));
  EXPECT_EQ(in, out);
}

TEST_F(AddressSpaceTest, CopiesPastTheEndAreRefused) {
  const auto address = space_.allocate(16, 1, {});
  char buffer[17] = {};
  EXPECT_FALSE(space_.copy_in(*address, buffer, 17));
  EXPECT_FALSE(space_.copy_out(buffer, *address + 8, 9));
}

TEST_F(AddressSpaceTest, CapacityIsALimit) {
  EXPECT_TRUE(space_.allocate(60 << 20, 1, {}));
  EXPECT_FALSE(space_.allocate(8 << 20, 1, {}));
}

TEST_F(AddressSpaceTest, FreedMemoryIsRememberedAndItsAddressNotReusedAtOnce) {
  const auto first = space_.allocate(4096, 1, {});
  EXPECT_TRUE(space_.free(*first));
  EXPECT_FALSE(space_.free(*first));
  const auto second = space_.allocate(4096, 1, {});
  EXPECT_NE(*first, *second);
  ASSERT_TRUE(space_.find_freed(*first + 100));
  EXPECT_FALSE(space_.find(*first));
}

TEST_F(AddressSpaceTest, AddressesComeBackAfterManyFrees) {
  for (int round = 0; round < 10000; ++round) {
    const auto address = space_.allocate(1 << 20, 1, {});
    ASSERT_TRUE(address) << round;
    ASSERT_TRUE(space_.free(*address));
  }
}

TEST_F(AddressSpaceTest, PreciseSpansEndWithTheAllocation) {
  const auto address = space_.allocate(100, 1, {});
  ASSERT_TRUE(space_.span_of(*address, true));
  EXPECT_EQ(space_.span_of(*address, true)->end, *address + 100);
  EXPECT_FALSE(space_.span_of(*address + 100, true));
  EXPECT_TRUE(space_.span_of(*address + 100, false)) << "the same mapped piece";
}

TEST_F(AddressSpaceTest, KeepsItsDistanceBetweenAllocationsWhenAsked) {
  space_.keep_distance(64 << 10);
  const auto first = space_.allocate(100, 1, {}), second = space_.allocate(100, 1, {});
  EXPECT_GE(*second - (*first + 100), std::uint64_t{64} << 10);
  EXPECT_TRUE(space_.free(*first));
  EXPECT_TRUE(space_.free(*second));
}

TEST_F(AddressSpaceTest, AfterAnArrayOfTheHostAKernelMayGoOnUnlessItIsPrecise) {
  alignas(4096) static std::array<std::byte, 3 * 4096> host;
  const auto address = reinterpret_cast<std::uint64_t>(host.data()) + 64;
  space_.register_host_range(host.data() + 64, 60, {AllocationKind::kHost, "cudaHostRegister"},
                             4096 - 64 - 60);
  ASSERT_TRUE(space_.span_of(address + 60, false));
  EXPECT_EQ(space_.span_of(address + 60, false)->end, address - 64 + 4096);
  EXPECT_TRUE(space_.span_of(address - 4, false)) << "its page begins before it";
  EXPECT_FALSE(space_.span_of(address - 64 + 4096, false)) << "another page";
  EXPECT_FALSE(space_.span_of(address + 60, true));
  EXPECT_TRUE(space_.unregister_host_range(host.data() + 64));
  EXPECT_FALSE(space_.span_of(address, false));
  EXPECT_TRUE(space_.find_freed(address + 8));
}

TEST_F(AddressSpaceTest, NobodysBytesAreCountedButForWhatMayBePadding) {
  space_.track_initialised(true);
  const auto address = space_.allocate(64, 1, {});
  const std::vector<int> some{1, 2, 3};
  space_.copy_in(*address, some.data(), 12);  // and 4 bytes that nobody writes
  space_.copy_in(*address + 16, some.data(), 8);
  EXPECT_EQ(space_.unwritten(*address, 24).count, 4u);
  EXPECT_EQ(space_.unwritten(*address, 24).first, 12u);
  EXPECT_EQ(space_.unwritten(*address, 64).count, 44u);
  space_.note_stored_words(*address - space_.shared_window(), 8);  // a struct may have a double
  EXPECT_EQ(space_.unwritten(*address, 24).count, 0u);
  EXPECT_EQ(space_.unwritten(*address, 64).count, 40u);
}

TEST_F(AddressSpaceTest, ForgetsWritesAndKeepsValues) {
  space_.track_initialised(true);
  const auto address = space_.allocate(8, 1, {});
  const std::vector<int> in{1, 2};
  std::vector<int> out(2);
  space_.copy_in(*address, in.data(), 8);
  const std::uint8_t* const written =
      space_.initialised_shadow() + (*address - space_.shared_window());
  EXPECT_EQ(written[0], 1);
  EXPECT_EQ(written[4], 1);
  space_.forget_writes(*address, 4);
  EXPECT_EQ(written[0], 0);
  EXPECT_EQ(written[4], 1);
  EXPECT_TRUE(space_.copy_out(out.data(), *address, 8));
  EXPECT_EQ(in, out);
}

TEST_F(AddressSpaceTest, NearestNamesTheAllocationThatWasMissed) {
  const auto address = space_.allocate(100, 1, {AllocationKind::kMalloc, "cudaMalloc", false});
  ASSERT_TRUE(space_.nearest(*address + 104));
  EXPECT_EQ(space_.nearest(*address + 104)->address, *address);
}

TEST_F(AddressSpaceTest, HostRangesAreFoundUnderTheirOwnAddress) {
  std::vector<int> host(4, 7);
  space_.register_host_range(host.data(), 16, {AllocationKind::kHost});
  const auto address = reinterpret_cast<std::uint64_t>(host.data());
  EXPECT_EQ(space_.host_bytes(address, 16), reinterpret_cast<std::byte*>(host.data()));
  EXPECT_TRUE(space_.unregister_host_range(host.data()));
  EXPECT_EQ(space_.host_bytes(address, 16), nullptr);
}

using AddressSpaceDeathTest = AddressSpaceTest;

TEST_F(AddressSpaceDeathTest, TheHostCannotReadDeviceMemory) {
  const auto address = space_.allocate(4, 1, {});
  EXPECT_DEATH(static_cast<void>(*reinterpret_cast<volatile int*>(*address)), "");
}

TEST(AddressSpace, KnowsThePagesOfWhichEveryByteWasWritten) {
  AddressSpace space(64 << 20);
  space.track_initialised(true);
  constexpr std::uint64_t kPage = AddressSpace::kPageBytes;
  const auto from = *space.allocate(4 * kPage, kPage, {}),
             to = *space.allocate(4 * kPage, kPage, {});
  const auto whole = [&](std::uint64_t address) {
    return space.whole_pages_written(address - space.shared_window(), 4);
  };
  EXPECT_FALSE(whole(from));
  space.fill(from, std::byte{1}, kPage + 100);
  EXPECT_TRUE(whole(from));
  EXPECT_FALSE(whole(from + kPage));
  space.mark_initialised(from + kPage + 100, 3 * kPage - 100);
  EXPECT_TRUE(whole(from + kPage));
  EXPECT_FALSE(space.whole_pages_written(from + 4 * kPage - 2 - space.shared_window(), 4));
  space.copy(to, from, 2 * kPage);
  EXPECT_TRUE(whole(to + kPage));
  space.forget_writes(from + kPage + 7, 1);
  EXPECT_FALSE(whole(from + kPage));
  space.copy(to + 8, from + kPage, 16);
  EXPECT_FALSE(whole(to));
  EXPECT_TRUE(whole(to + kPage));
}

}  // namespace
}  // namespace membound::vgpu::memory
