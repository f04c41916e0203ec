// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

constexpr std::uint64_t kBegin = 0x7000'0000;

TEST(Stamp, GivesBackWhatItWasMadeOf) {
  const std::uint64_t stamp = Stamp::make(7, 123456, 65432, 1023, Stamp::kAtomic);
  EXPECT_EQ(stamp >> Stamp::kTagShift, 7u);
  EXPECT_EQ(Stamp::block(stamp), 123456u);
  EXPECT_EQ(Stamp::time(stamp), 65432u);
  EXPECT_EQ(Stamp::thread(stamp), 1023u);
  EXPECT_EQ(Stamp::warp(stamp), 31u);
  EXPECT_EQ(Stamp::lane(stamp), 31u);
}

TEST(Stamp, BlockNumbersWrapWithoutTouchingTheTag) {
  const std::uint64_t stamp = Stamp::make(1, std::uint64_t{1} << 24, 1, 0, 0);
  EXPECT_EQ(stamp >> Stamp::kTagShift, 1u);
  EXPECT_EQ(Stamp::block(stamp), 0u);
}

TEST(AccessShadow, HasACellForEachWord) {
  AccessShadow shadow(kBegin, 1 << 20, 2);
  EXPECT_EQ(shadow.view().cells, 1u << 18);
  shadow.view().writes[5] = 42;
  shadow.forget(kBegin + 20, 4);
  EXPECT_EQ(shadow.view().writes[5], 0u);
}

TEST(AccessShadow, ForgetsOnlyInsideItsRange) {
  AccessShadow shadow(kBegin, 4096, 2);
  shadow.forget(kBegin + 4092, 1 << 20);
  shadow.forget(kBegin - 4, 8);
  EXPECT_EQ(shadow.view().writes[0], 0u);
}

TEST(AccessShadow, ClearsItselfBeforeATagComesAgain) {
  AccessShadow shadow(kBegin, 4096, 2);
  const std::uint32_t first = shadow.next_tag();
  shadow.view().writes[0] = Stamp::make(first, 0, 1, 0, 0);
  std::uint32_t tag = 0;
  for (std::uint32_t launch = 0; launch < Stamp::kLastTag; ++launch) tag = shadow.next_tag();
  EXPECT_EQ(tag, first);
  EXPECT_EQ(shadow.view().writes[0], 0u);
}

}  // namespace
}  // namespace membound::vgpu::memory
