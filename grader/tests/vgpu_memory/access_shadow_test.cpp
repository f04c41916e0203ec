// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/memory/access_shadow.hpp"

#include <gtest/gtest.h>

namespace membound::vgpu::memory {
namespace {

// block, era, epoch, warp, atomic
constexpr ShadowStamp kFirst(0, 1, 0, 0, false);
constexpr ShadowStamp kSecond(0, 1, 0, 1, false);
constexpr ShadowStamp kSecondLater(0, 1, 1, 1, false);  // after a barrier
constexpr ShadowStamp kOtherBlock(1, 1, 5, 0, false);
constexpr ShadowStamp kOtherBlockLater(1, 2, 5, 0, false);  // after a fence
constexpr ShadowStamp kFirstAtomic(0, 1, 0, 0, true);
constexpr ShadowStamp kSecondAtomic(0, 1, 0, 1, true);
constexpr bool kReads = false;
constexpr bool kWrites = true;

void after(ShadowWord& word, ShadowStamp stamp, bool writes) {
  static_cast<void>(note_access(word, stamp, writes));
}

TEST(AccessShadow, AReadAfterAnotherThreadsWriteRaces) {
  ShadowWord word;
  EXPECT_EQ(note_access(word, kFirst, kWrites), RaceKind::kNone);
  EXPECT_EQ(note_access(word, kSecond, kReads), RaceKind::kReadAfterWrite);
}

TEST(AccessShadow, ABarrierBetweenOrdersThem) {
  ShadowWord word;
  after(word, kFirst, kWrites);
  EXPECT_EQ(note_access(word, kSecondLater, kReads), RaceKind::kNone);
}

TEST(AccessShadow, BarriersDoNotOrderBlocksFencesDo) {
  ShadowWord word, other;
  after(word, kFirst, kWrites);
  EXPECT_EQ(note_access(word, kOtherBlock, kWrites), RaceKind::kWriteAfterWrite);
  after(other, kFirst, kWrites);
  EXPECT_EQ(note_access(other, kOtherBlockLater, kWrites), RaceKind::kNone);
}

TEST(AccessShadow, ReadsNeverRaceWithReads) {
  ShadowWord word;
  after(word, kFirst, kReads);
  EXPECT_EQ(note_access(word, kSecond, kReads), RaceKind::kNone);
}

TEST(AccessShadow, AWriteAfterOneOfManyReadersRaces) {
  ShadowWord word;
  after(word, kSecond, kReads);
  after(word, kFirst, kReads);
  EXPECT_EQ(note_access(word, kFirst, kWrites), RaceKind::kWriteAfterRead);
}

TEST(AccessShadow, ManyReadersBeforeABarrierDoNotMatterAfterIt) {
  ShadowWord word;
  after(word, kFirst, kReads);
  after(word, kSecond, kReads);
  EXPECT_EQ(note_access(word, kSecondLater, kWrites), RaceKind::kNone);
}

TEST(AccessShadow, AtomicsDoNotRaceWithAtomics) {
  ShadowWord word;
  after(word, kFirstAtomic, kWrites);
  EXPECT_EQ(note_access(word, kSecondAtomic, kWrites), RaceKind::kNone);
  EXPECT_EQ(note_access(word, kFirst, kReads), RaceKind::kReadAfterWrite);
}

}  // namespace
}  // namespace membound::vgpu::memory
