// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

constexpr ShadowStamp kFirst{1, 0, 0, 1};
constexpr ShadowStamp kSecond{2, 0, 0, 1};
constexpr ShadowStamp kSecondLater{2, 0, 1, 1};  // after a barrier
constexpr ShadowStamp kOtherBlock{1, 1, 5, 1};
constexpr ShadowStamp kOtherBlockLater{1, 1, 5, 2};  // after a fence

TEST(AccessShadow, AReadAfterAnotherThreadsWriteRaces) {
  ShadowWord word;
  EXPECT_EQ(note_access(word, kFirst, true, false), RaceKind::kNone);
  EXPECT_EQ(note_access(word, kSecond, false, false), RaceKind::kReadAfterWrite);
}

TEST(AccessShadow, ABarrierBetweenOrdersThem) {
  ShadowWord word;
  static_cast<void>(note_access(word, kFirst, true, false));
  EXPECT_EQ(note_access(word, kSecondLater, false, false), RaceKind::kNone);
}

TEST(AccessShadow, BarriersDoNotOrderBlocksFencesDo) {
  ShadowWord word, other;
  static_cast<void>(note_access(word, kFirst, true, false));
  EXPECT_EQ(note_access(word, kOtherBlock, true, false), RaceKind::kWriteAfterWrite);
  static_cast<void>(note_access(other, kFirst, true, false));
  EXPECT_EQ(note_access(other, kOtherBlockLater, true, false), RaceKind::kNone);
}

TEST(AccessShadow, ReadsNeverRaceWithReads) {
  ShadowWord word;
  static_cast<void>(note_access(word, kFirst, false, false));
  EXPECT_EQ(note_access(word, kSecond, false, false), RaceKind::kNone);
}

TEST(AccessShadow, AWriteAfterOneOfManyReadersRaces) {
  ShadowWord word;
  static_cast<void>(note_access(word, kSecond, false, false));
  static_cast<void>(note_access(word, kFirst, false, false));
  EXPECT_EQ(note_access(word, kFirst, true, false), RaceKind::kWriteAfterRead);
}

TEST(AccessShadow, AtomicsDoNotRaceWithAtomics) {
  ShadowWord word;
  static_cast<void>(note_access(word, kFirst, true, true));
  EXPECT_EQ(note_access(word, kSecond, true, true), RaceKind::kNone);
  EXPECT_EQ(note_access(word, kFirst, false, false), RaceKind::kReadAfterWrite);
}

}  // namespace
}  // namespace membound::vgpu::memory
