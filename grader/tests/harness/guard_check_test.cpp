// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/guarded_memory.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <cstring>

namespace membound::harness {
namespace {

using testing::HasSubstr;
using testing::Optional;

constexpr std::size_t kZone = 4096;
constexpr std::uint16_t kMark = 0xBEEF;

TEST(GuardCheck, AnUntouchedZoneIsFine) {
  EXPECT_EQ(zone_damage(guard_pattern(kZone, kMark), kMark, Side::kBehind, 4, 10), std::nullopt);
}

TEST(GuardCheck, OneElementTooFarIsNamedByItsIndex) {
  auto zone = guard_pattern(kZone, kMark);
  const float written = 1.5F;
  std::memcpy(zone.data(), &written, sizeof(written));
  EXPECT_THAT(zone_damage(zone, kMark, Side::kBehind, 4, 10),
              Optional(std::string("1 element past the last was overwritten; the nearest is "
                                   "element 10 of an array of 10")));
}

TEST(GuardCheck, TheElementBeforeTheFirstIsMinusOne) {
  auto zone = guard_pattern(kZone, kMark);
  zone[kZone - 8] = std::byte{0x11};  // the neighbour of an array of doubles
  EXPECT_THAT(zone_damage(zone, kMark, Side::kBefore, 8, 10),
              Optional(std::string("1 element in front of the first was overwritten; the nearest "
                                   "is element -1 of an array of 10")));
}

TEST(GuardCheck, ElementsAreCountedNotBytes) {
  auto zone = guard_pattern(kZone, kMark);
  std::fill_n(zone.begin() + 12, 8, std::byte{0});
  EXPECT_THAT(zone_damage(zone, kMark, Side::kBehind, 4, 100),
              Optional(HasSubstr("2 elements past the last were overwritten; the nearest is "
                                 "element 103")));
}

TEST(GuardCheck, ASingleFlippedBitAnywhereIsSeen) {
  for (std::size_t at = 0; at < kZone; ++at) {
    auto zone = guard_pattern(kZone, kMark);
    zone[at] ^= std::byte{1};
    EXPECT_TRUE(zone_damage(zone, kMark, Side::kBehind, 4, 1)) << "byte " << at;
  }
}

TEST(GuardCheck, WhatLiesBehindAnotherArrayIsDamage) {
  EXPECT_TRUE(zone_damage(guard_pattern(kZone, 0x1234), kMark, Side::kBehind, 4, 10));
}

TEST(GuardCheck, WhatIsReadOutsideSpoilsSumsAndMinima) {
  const auto zone = guard_pattern(16, kMark);
  float words[4];
  std::memcpy(words, zone.data(), sizeof(words));
  EXPECT_TRUE(std::isnan(words[0]));
  EXPECT_LT(words[1], -3e38F);
}

TEST(GuardCheck, AChangedInputIsNamedByItsFirstChangedElement) {
  std::vector<std::int32_t> before = {1, 2, 3, 4}, now = {1, 2, 9, 8};
  EXPECT_THAT(input_damage(std::as_bytes(std::span(now)), std::as_bytes(std::span(before)), 4),
              Optional(HasSubstr("2 elements of this input changed, the first is element 2")));
  EXPECT_EQ(input_damage(std::as_bytes(std::span(now)), std::as_bytes(std::span(now)), 4),
            std::nullopt);
}

}  // namespace
}  // namespace membound::harness
