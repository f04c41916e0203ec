// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "grader/vgpu/timing/block_scheduler.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockRun;

/// The same blocks, each a run of its own, so that every one of them is dispatched.
std::vector<BlockRun> one_by_one(const std::vector<BlockRun>& runs) {
  std::vector<BlockRun> singles;
  for (const BlockRun& run : runs) singles.insert(singles.end(), run.blocks, {run.kind, 1});
  return singles;
}

TEST(Schedule, ABlockWaitsForAPlace) {
  const std::vector<BlockResidency> residencies = {{10, 1}};
  // 2 SMs with 2 slots each: 4 at a time.
  EXPECT_DOUBLE_EQ(schedule(std::vector<BlockRun>{{0, 4}}, residencies, 2, 2).ns, 10);
  EXPECT_DOUBLE_EQ(schedule(std::vector<BlockRun>{{0, 5}}, residencies, 2, 2).ns, 20);
  EXPECT_DOUBLE_EQ(schedule(std::vector<BlockRun>{{0, 9}}, residencies, 2, 2).ns, 30);
}

TEST(Schedule, ALoneBlockLeavesTheOtherMultiprocessorsIdle) {
  const Schedule one =
      schedule(std::vector<BlockRun>{{0, 1}}, std::vector<BlockResidency>{{10, 3}}, 4, 2);
  EXPECT_DOUBLE_EQ(one.occupied, 0.25);
  EXPECT_DOUBLE_EQ(one.busiest_work, 4);
}

TEST(Schedule, TheSmThatLoadsMostNeedNotBeTheOneThatComputesMost) {
  const std::vector<BlockResidency> residencies = {{.ns = 10, .work = 1, .loads = 9},
                                                   {.ns = 10, .work = 1, .loads = 0}};
  const Schedule uneven = schedule(std::vector<BlockRun>{{0, 1}, {1, 3}}, residencies, 4, 1);
  EXPECT_DOUBLE_EQ(uneven.busiest_work, 1);
  EXPECT_DOUBLE_EQ(uneven.busiest_loads, 4);
}

TEST(Schedule, FullRoundsKeepAllBusy) {
  const Schedule all =
      schedule(std::vector<BlockRun>{{0, 800}}, std::vector<BlockResidency>{{10, 3}}, 4, 2);
  EXPECT_DOUBLE_EQ(all.occupied, 1);
  EXPECT_DOUBLE_EQ(all.busiest_work, 1);
}

TEST(Schedule, OneSlowBlockIsNotAveragedAway) {
  const std::vector<BlockResidency> residencies = {{10, 1}, {1000, 1}};
  // The others use the slots around it: first, it hides all of them; last, it follows them.
  EXPECT_DOUBLE_EQ(schedule(std::vector<BlockRun>{{1, 1}, {0, 99}}, residencies, 2, 2).ns, 1000);
  EXPECT_DOUBLE_EQ(schedule(std::vector<BlockRun>{{0, 100}, {1, 1}}, residencies, 2, 2).ns, 1250);
}

TEST(Schedule, WholeRoundsAtOnceAreTheSameAsOneByOne) {
  const std::vector<BlockResidency> residencies = {
      {.ns = 7, .work = 2, .loads = 1}, {.ns = 19, .work = 5, .loads = 7}, {.ns = 2, .work = 1}};
  const std::vector<BlockRun> runs = {{0, 101}, {1, 350}, {2, 3}, {0, 64}, {1, 1}};
  const Schedule fast = schedule(runs, residencies, 5, 3);
  const Schedule slow = schedule(one_by_one(runs), residencies, 5, 3);
  EXPECT_NEAR(fast.ns, slow.ns, 1e-9 * slow.ns);
  EXPECT_NEAR(fast.busiest_work, slow.busiest_work, 1e-9);
  EXPECT_NEAR(fast.busiest_loads, slow.busiest_loads, 1e-9);
  EXPECT_NEAR(fast.occupied, slow.occupied, 1e-9);
}

TEST(Schedule, LongBlocksAsManyApartAsThereAreSmsMeetOnOne) {
  const std::vector<BlockResidency> residencies = {{1, 1}, {100, 100}};
  std::vector<BlockRun> runs;
  for (int i = 0; i < 8; ++i) runs.insert(runs.end(), {{1, 1}, {0, 131}});
  const Schedule in_turns = schedule(runs, residencies, 132, 8);
  EXPECT_NEAR(in_turns.busiest_work, 8 * 100.0 * 132 / (8 * 100 + 8 * 131), 1);
  const Schedule some_early = schedule(runs, residencies, 132, 8, {8, 100});
  EXPECT_LT(some_early.busiest_work, in_turns.busiest_work * 0.8)
      << "where some SMs are reached out of turn";
}

TEST(Schedule, SmsThatAreReachedEarlyHaveNoMoreBlocks) {
  const std::vector<BlockResidency> residencies = {{10, 3}};
  for (const std::uint64_t blocks : {132u, 264u, 528u, 1056u})
    EXPECT_DOUBLE_EQ(
        schedule(std::vector<BlockRun>{{0, blocks}}, residencies, 132, 8, {8, 100}).busiest_work,
        1);
}

TEST(Schedule, NoBlockTakesNoTime) { EXPECT_DOUBLE_EQ(schedule({}, {}, 4, 2).ns, 0); }

/// Lives of whole nanoseconds: many slots are free at the same time, and order decides.
TEST(FreeSlots, GivesTheOneThatIsFreeFirst) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t kinds = 1 + random() % 6;
    std::vector<double> residencies;
    for (std::size_t i = 0; i < kinds; ++i) residencies.push_back(random() % 4);
    std::vector<Slot> first;
    for (std::uint32_t i = 0; i < 1 + random() % 40; ++i) first.push_back({0, i, i});
    FreeSlots slots(kinds, first);
    std::set<Slot> all(first.begin(), first.end());
    for (int turn = 0; turn < 2000; ++turn) {
      Slot slot = slots.take();
      ASSERT_EQ(slot.order, all.begin()->order) << "seed " << seed << ", turn " << turn;
      all.erase(all.begin());
      const std::size_t kind = random() % kinds;
      slot.free_ns += residencies[kind];
      slots.put(kind, slot);
      all.insert(slot);
      ASSERT_DOUBLE_EQ(slots.spread_ns(), all.rbegin()->free_ns - all.begin()->free_ns);
    }
  }
}

TEST(FreeSlots, KeepsTheirOrderWhereRoundingMakesThemEqual) {
  FreeSlots slots(1, {{1.0, 2, 0}, {std::nextafter(1.0, 2.0), 1, 0}});
  slots.each([](Slot& slot) { slot.free_ns += 1e18; });
  EXPECT_EQ(slots.take().order, 1u);
}

}  // namespace

}  // namespace membound::vgpu::timing
