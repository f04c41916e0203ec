// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <list>

#include "grader/vgpu/exec/observe/vector_clock.hpp"

namespace membound::vgpu::exec {
namespace {

using memory::Epoch;

constexpr std::uint32_t kBlock = 3;
constexpr std::uint32_t kOne = 1, kUpperHalf = 0xFFFF0000;  ///< lanes

/// A block of four warps that access memory when told.
class RaceClockTest : public ::testing::Test {
 protected:
  RaceClockTest() { start(clock_, kBlock); }
  static void start(BlockClock& clock, std::uint64_t block) {
    const std::uint32_t lanes[4] = {~0u, ~0u, ~0u, ~0u};
    clock.start(block, lanes, 4);
  }
  static std::uint64_t access(BlockClock& clock, std::uint32_t thread, std::uint64_t block = kBlock,
                              std::uint64_t flags = 0) {
    clock.touch(thread / 32);
    return Epoch::make(1, block, clock.time(thread / 32), thread, flags);
  }
  std::uint64_t access(std::uint32_t thread) { return access(clock_, thread); }
  BlockClock clock_;
  SyncVariable place_;
};

TEST_F(RaceClockTest, AThreadIsInOrderWithItself) { EXPECT_TRUE(clock_.ordered(access(5), 5)); }

TEST_F(RaceClockTest, LanesOfOneWarpAreNotInOrder) { EXPECT_FALSE(clock_.ordered(access(5), 6)); }

TEST_F(RaceClockTest, AWarpBarrierOrdersItsLanes) {
  const auto before = access(5);
  clock_.join_lanes(0, ~0u);
  EXPECT_TRUE(clock_.ordered(before, 6));
  EXPECT_FALSE(clock_.ordered(before, 40)) << "another warp";
}

TEST_F(RaceClockTest, AWarpBarrierOfSomeLanesOrdersThoseOnly) {
  const auto before = access(5);
  clock_.join_lanes(0, 0x0000FFFF);
  EXPECT_TRUE(clock_.ordered(before, 6));
  EXPECT_FALSE(clock_.ordered(before, 20));
}

TEST_F(RaceClockTest, WarpBarriersOfSomeLanesMakeChains) {
  const auto before = access(5);
  clock_.join_lanes(0, 0x0000FFFF);
  clock_.join_lanes(0, 0x00FF0000 | 1u << 15);
  EXPECT_TRUE(clock_.ordered(before, 20));
  EXPECT_FALSE(clock_.ordered(before, 30));
}

TEST_F(RaceClockTest, AWarpBarrierDoesNotOrderWhatComesAfterIt) {
  clock_.join_lanes(0, ~0u);
  EXPECT_FALSE(clock_.ordered(access(5), 6));
}

TEST_F(RaceClockTest, ABlockBarrierOrdersEverything) {
  const auto before = access(5);
  clock_.join_all(0);
  EXPECT_TRUE(clock_.ordered(before, 127));
  EXPECT_FALSE(clock_.ordered(access(5), 127)) << "after the barrier";
}

TEST_F(RaceClockTest, ABarrierOfTwoWarpsOrdersThoseTwo) {
  const auto before = access(0);
  clock_.arrive(0, 1);
  clock_.arrive(1, 1);
  clock_.open(1, 0b0011);
  EXPECT_TRUE(clock_.ordered(before, 32));
  EXPECT_FALSE(clock_.ordered(before, 64));
}

TEST_F(RaceClockTest, WhoOnlyArrivesLearnsNothing) {
  const auto producer = access(0), consumer = access(32);
  clock_.arrive(0, 1);
  clock_.arrive(1, 1);
  clock_.open(1, 0b0010);  // only warp 1 waited
  EXPECT_TRUE(clock_.ordered(producer, 32));
  EXPECT_FALSE(clock_.ordered(consumer, 0));
}

TEST_F(RaceClockTest, AFlagWithAFenceHandsOver) {
  const auto data = access(0);
  clock_.fence(0, Reach::kDevice);
  clock_.release(0, kOne, place_, Reach::kDevice, false, true);
  clock_.acquire(1, kOne, place_);
  EXPECT_TRUE(clock_.ordered(data, 32));
}

TEST_F(RaceClockTest, AFlagWithoutAFenceDoesNot) {
  const auto data = access(0);
  clock_.release(0, kOne, place_, Reach::kDevice, false, true);
  clock_.acquire(1, kOne, place_);
  EXPECT_FALSE(clock_.ordered(data, 32));
}

TEST_F(RaceClockTest, WhatComesAfterTheFenceIsNotHandedOver) {
  clock_.fence(0, Reach::kDevice);
  const auto data = access(0);
  clock_.release(0, kOne, place_, Reach::kDevice, false, true);
  clock_.acquire(1, kOne, place_);
  EXPECT_FALSE(clock_.ordered(data, 32));
}

TEST_F(RaceClockTest, AReleaseNeedsNoFence) {
  const auto data = access(0);
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  clock_.acquire(1, kOne, place_);
  EXPECT_TRUE(clock_.ordered(data, 32));
}

TEST_F(RaceClockTest, WithinAWarpWhoReleasesHandsOverWhatItDidItself) {
  const auto mine = access(0), another = access(1);
  clock_.fence(0, Reach::kBlock);
  clock_.release(0, kOne, place_, Reach::kBlock, false, true);
  clock_.acquire(0, kUpperHalf, place_);
  EXPECT_TRUE(clock_.ordered(mine, 16));
  EXPECT_FALSE(clock_.ordered(another, 17)) << "lane 0 has not met lane 1";
  EXPECT_FALSE(clock_.ordered(mine, 2)) << "lane 2 has not looked";
}

TEST_F(RaceClockTest, WithinAWarpAlsoWhatThoseDidWhomItHasMet) {
  const auto another = access(1);
  clock_.join_lanes(0, 0x0000FFFF);
  const auto late = access(1);
  clock_.fence(0, Reach::kBlock);
  clock_.release(0, kOne, place_, Reach::kBlock, false, true);
  clock_.acquire(0, kUpperHalf, place_);
  EXPECT_TRUE(clock_.ordered(another, 17));
  EXPECT_FALSE(clock_.ordered(late, 17)) << "what comes after they have met";
}

TEST_F(RaceClockTest, ManyHandOversOfOneTimeHideNoLaterOne) {
  constexpr std::uint32_t kWords = 20;
  SyncVariable words[kWords];
  clock_.fence(0, Reach::kBlock);
  for (std::uint32_t lane = 0; lane < kWords; ++lane)
    clock_.release(0, 1u << lane, words[lane], Reach::kBlock, false, true);
  const auto another = access(1);
  clock_.fence(0, Reach::kBlock);
  clock_.release(0, kOne, place_, Reach::kBlock, false, true);
  clock_.acquire(0, kUpperHalf, place_);
  for (const SyncVariable& word : words) clock_.acquire(0, kUpperHalf, word);
  EXPECT_FALSE(clock_.ordered(another, 17));
}

TEST_F(RaceClockTest, LanesThatLookLaterTakeTheSameOver) {
  const auto mine = access(0);
  clock_.release(0, kOne, place_, Reach::kBlock, true, true);
  clock_.acquire(0, kUpperHalf, place_);
  EXPECT_FALSE(clock_.ordered(mine, 2));
  clock_.acquire(0, 0x4, place_);
  EXPECT_TRUE(clock_.ordered(mine, 2));
}

TEST_F(RaceClockTest, AnUnfencedStoreEndsWhatWasHandedOver) {
  const auto data = access(0);
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  clock_.release(2, kOne, place_, Reach::kDevice, false, true);
  clock_.acquire(1, kOne, place_);
  EXPECT_FALSE(clock_.ordered(data, 32));
}

TEST_F(RaceClockTest, WhatEachHasFencedBeforeABarrierAnyOfThemHandsOver) {
  BlockClock other;
  start(other, 4);
  const auto fenced = access(100);
  clock_.fence(3, Reach::kDevice);
  const auto late = access(100);
  clock_.join_all(0);
  clock_.release(0, kOne, place_, Reach::kDevice, false, true);
  other.acquire(0, kOne, place_);
  EXPECT_TRUE(other.ordered(fenced, 0));
  EXPECT_FALSE(other.ordered(late, 0)) << "what comes after the fence";
}

TEST_F(RaceClockTest, FencesTravelByBarriersOfSomeWarpsAndByHandOversToo) {
  BlockClock other;
  start(other, 4);
  const auto data = access(0);
  clock_.fence(0, Reach::kDevice);
  clock_.arrive(0, 1);
  clock_.arrive(1, 1);
  clock_.open(1, 0b0011);
  SyncVariable within;
  clock_.release(1, kOne, within, Reach::kBlock, true, false);
  clock_.acquire(2, kOne, within);
  clock_.release(2, kOne, place_, Reach::kDevice, false, true);
  other.acquire(0, kOne, place_);
  EXPECT_TRUE(other.ordered(data, 0));
}

TEST_F(RaceClockTest, AHandOverWithinTheBlockTellsWhatIsKnownOfOthers) {
  BlockClock other;
  start(other, 4);
  const auto data = access(0);
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  other.acquire(0, kOne, place_);
  SyncVariable within;
  other.release(0, kOne, within, Reach::kBlock, true, false);
  EXPECT_FALSE(other.ordered(data, 32));
  other.acquire(1, kOne, within);
  EXPECT_TRUE(other.ordered(data, 32));
}

TEST_F(RaceClockTest, BlocksAreInOrderOnlyAfterAHandOverOfDeviceScope) {
  BlockClock other;
  start(other, 4);
  const auto data = access(0);
  EXPECT_FALSE(other.ordered(data, 0));
  clock_.release(0, kOne, place_, Reach::kBlock, true, true);
  other.acquire(0, kOne, place_);
  EXPECT_FALSE(other.ordered(data, 0)) << "released towards the own block only";
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  other.acquire(0, kOne, place_);
  EXPECT_TRUE(other.ordered(data, 0));
}

TEST_F(RaceClockTest, AHandOverToAnotherBlockCoversWhatABarrierGathered) {
  BlockClock other;
  start(other, 4);
  const auto gathered = access(100);
  clock_.join_all(0);
  const auto late = access(100);
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  other.acquire(0, kOne, place_);
  EXPECT_TRUE(other.ordered(gathered, 0));
  EXPECT_FALSE(other.ordered(late, 0)) << "what another warp did after the barrier";
}

TEST_F(RaceClockTest, TowardsOtherWarpsALaneHandsOverWhatItDidItself) {
  BlockClock other;
  start(other, 4);
  const auto mine = access(0), another = access(5);
  clock_.fence(0, Reach::kDevice);
  clock_.release(0, kOne, place_, Reach::kDevice, false, true);
  clock_.acquire(1, ~0u, place_);
  other.acquire(0, ~0u, place_);
  EXPECT_TRUE(clock_.ordered(mine, 40));
  EXPECT_FALSE(clock_.ordered(another, 40));
  EXPECT_TRUE(other.ordered(mine, 8));
  EXPECT_FALSE(other.ordered(another, 8));
}

TEST_F(RaceClockTest, TowardsOtherWarpsAlsoWhatThoseDidWhomItHasMet) {
  BlockClock other;
  start(other, 4);
  const auto first = access(5);
  clock_.join_lanes(0, ~0u);
  const auto second = access(5), apart = access(20);
  clock_.join_lanes(0, 0x30);
  clock_.join_lanes(0, 0x11);
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  clock_.acquire(1, ~0u, place_);
  other.acquire(0, ~0u, place_);
  for (const auto met : {first, second}) {
    EXPECT_TRUE(clock_.ordered(met, 40));
    EXPECT_TRUE(other.ordered(met, 8));
  }
  EXPECT_FALSE(clock_.ordered(apart, 40));
  EXPECT_FALSE(other.ordered(apart, 8));
}

TEST_F(RaceClockTest, OfAnotherWarpTheLanesTakeOverThatLookAndThoseTheyMeet) {
  BlockClock other;
  start(other, 4);
  const auto data = access(0);
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  clock_.acquire(1, kOne, place_);
  other.acquire(0, kOne, place_);
  EXPECT_TRUE(clock_.ordered(data, 32));
  EXPECT_FALSE(clock_.ordered(data, 33));
  EXPECT_TRUE(other.ordered(data, 0));
  EXPECT_FALSE(other.ordered(data, 1));
  clock_.join_lanes(1, 0x3);
  other.join_lanes(0, 0x3);
  EXPECT_TRUE(clock_.ordered(data, 33));
  EXPECT_FALSE(clock_.ordered(data, 34));
  EXPECT_TRUE(other.ordered(data, 1));
  EXPECT_FALSE(other.ordered(data, 2));
  clock_.join_lanes(1, ~0u);
  other.join_lanes(0, ~0u);
  EXPECT_TRUE(clock_.ordered(data, 63));
  EXPECT_TRUE(other.ordered(data, 31));
}

/// Lane 0 of warp 0 hands its data to lane 5 of warp 1; a lane of warp 1 hands on to all of warp 2,
/// and of warp 0 of another block.
class HandedOn : public RaceClockTest {
 protected:
  enum class By : std::uint8_t { kRelease, kFence };
  /// Lane 5 has met lane `met` before `by` hands on; whether the data is in order then.
  std::array<bool, 2> arrives(By how, std::uint32_t by, std::uint32_t met) {
    BlockClock other;
    start(other, 4);
    const auto data = access(0);
    clock_.release(0, kOne, place_, Reach::kDevice, true, true);
    clock_.acquire(1, 1u << 5, place_);
    if (how == By::kFence) clock_.fence(1, Reach::kDevice);
    if (met != 5) clock_.join_lanes(1, 1u << 5 | 1u << met);
    SyncVariable& next = next_.emplace_back();
    clock_.release(1, 1u << by, next, Reach::kDevice, how == By::kRelease, true);
    clock_.acquire(2, ~0u, next);
    other.acquire(0, ~0u, next);
    return {clock_.ordered(data, 64), other.ordered(data, 0)};
  }

 private:
  std::list<SyncVariable> next_;  // a place has an address of its own, which clocks remember
};

constexpr std::array<bool, 2> kBoth = {true, true}, kNeither = {false, false};

TEST_F(HandedOn, ByTheLaneThatTookItOver) {
  EXPECT_EQ(arrives(By::kRelease, 5, 5), kBoth);
  EXPECT_EQ(arrives(By::kFence, 5, 5), kBoth);
}

TEST_F(HandedOn, ByALaneThatHasMetIt) {
  EXPECT_EQ(arrives(By::kRelease, 9, 9), kBoth);
  EXPECT_EQ(arrives(By::kFence, 9, 9), kBoth);
}

TEST_F(HandedOn, NotByALaneThatHasNot) {
  EXPECT_EQ(arrives(By::kRelease, 9, 5), kNeither);
  EXPECT_EQ(arrives(By::kFence, 9, 5), kNeither);
  EXPECT_EQ(arrives(By::kRelease, 8, 9), kNeither);
}

TEST_F(RaceClockTest, ManyHandOversToAWarpInventNoRace) {
  constexpr std::uint32_t kWords = 20;
  SyncVariable words[kWords];
  std::uint64_t data[kWords];
  for (std::uint32_t i = 0; i < kWords; ++i) {
    data[i] = access(i);
    clock_.release(0, 1u << i, words[i], Reach::kBlock, true, true);
  }
  for (std::uint32_t i = 0; i < kWords; ++i) clock_.acquire(1, 1u << i, words[i]);
  for (std::uint32_t i = 0; i < kWords; ++i) EXPECT_TRUE(clock_.ordered(data[i], 32 + i)) << i;
}

TEST_F(RaceClockTest, WhatAWarpTookOverItsBlockKnowsAfterABarrier) {
  BlockClock other;
  start(other, 4);
  const auto data = access(0);
  clock_.release(0, kOne, place_, Reach::kDevice, true, true);
  other.acquire(0, kOne, place_);
  EXPECT_FALSE(other.ordered(data, 96));
  other.join_all(0);
  EXPECT_TRUE(other.ordered(data, 96));
}

TEST_F(RaceClockTest, ClocksThatRanOutReportNothing) {
  const auto last = Epoch::make(1, kBlock, Epoch::kLastTime, 5, 0);
  EXPECT_TRUE(clock_.ordered(last, 70));
}

}  // namespace

}  // namespace membound::vgpu::exec
