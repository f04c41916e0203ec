// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Of blocks that take long some warps stand for all: which, and what is counted then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "grader/tests/vgpu/exec/sampled_fixture.hpp"
#include "grader/vgpu/exec/launch/launch.hpp"

namespace membound::vgpu::exec {
namespace {

TEST(SomeWarps, StandForThoseBesideThem) {
  Sampled machine(std::string("mov.u32 %r5, 30000;\n") + kTurns);
  const LaunchReport whole = machine.run_with({}, 20), some = machine.run_with(7, 20, true);
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_EQ(some.sample->warps, 0.5);
  EXPECT_EQ(some.sample->stored_bytes, some.sample->blocks * 32 * 4);
  EXPECT_EQ(some.warp_instructions * 20, whole.warp_instructions / 2 * some.sample->blocks);
  counters::Counters totals = some.counters.totals;
  EXPECT_EQ(totals.warp_instructions, whole.counters.totals.warp_instructions);
  EXPECT_EQ(totals.global_store_sectors, whole.counters.totals.global_store_sectors);
  EXPECT_EQ(totals.l2_read_sectors, whole.counters.totals.l2_read_sectors);
  EXPECT_EQ(totals.dram_write_bytes, whole.counters.totals.dram_write_bytes);
  EXPECT_EQ(totals.blocks, 20u);
  EXPECT_EQ(totals.warps, 40u);
  EXPECT_EQ(totals.threads, 20u * kSampleThreads);
  EXPECT_EQ(some.counters.work.kinds, whole.counters.work.kinds);
  EXPECT_EQ(some.counters.work.instructions, whole.counters.work.instructions);
}

TEST(SomeWarps, StandForThemselvesWhereTheyHaveLittleToDo) {
  // The second warp of each block leaves at once; each seed has blocks in which it comes first.
  Sampled machine(std::string("setp.ge.u32 %p0, %r0, 32;\nselp.b32 %r5, 1, 30000, %p0;\n") +
                  kTurns);
  const auto instructions = [&](std::uint64_t seed) {
    const LaunchReport some = machine.run_with(seed, 1, true);
    EXPECT_TRUE(some.sample) << some.unsampled;
    return some.counters.totals.warp_instructions;
  };
  const std::uint64_t whole = machine.run_with({}, 1).warp_instructions;
  std::set<std::uint64_t> said;
  for (std::uint64_t seed = 1; seed <= 16; ++seed) said.insert(instructions(seed));
  EXPECT_THAT(said, testing::Contains(whole)) << "where it came first";
  EXPECT_EQ(said.size(), 2u) << "else it is taken to be like the other";
}

TEST(SomeWarps, FindInL1WhatAllWouldLeaveThere) {
  // Each turn loads one word of a row of its own, further on by a line than the turn before, and
  // 64 turns later again.
  Sampled machine(R"(
  mov.u32 %r5, 20000;
TURN:
  and.b32 %r6, %r5, 63;
  mul.wide.u32 %rd5, %r6, 128;
  add.u64 %rd5, %rd3, %rd5;
  ld.global.u32 %r4, [%rd5];
  sub.u32 %r5, %r5, 1;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra TURN;
)");
  const auto hits = [&](std::uint32_t l1_kept) {
    const LaunchReport some = machine.run_with(3, 100, true, l1_kept);
    EXPECT_TRUE(some.sample) << some.unsampled;
    return static_cast<double>(some.counters.totals.l1_load_hit_sectors) /
           static_cast<double>(some.counters.totals.global_load_sectors);
  };
  EXPECT_GT(hits(ReuseDistances::kBuckets), 0.9);
  EXPECT_EQ(hits(0), 0);
  EXPECT_LT(hits(8), 0.1) << "gone before a row is loaded again";
}

TEST(SomeWarps, OneGivenUpSaysHowLongL1KeepsLines) {
  Sampled machine(std::string("mov.u32 %r5, 0x7FFFFFFF;\n") + kTurns);
  EXPECT_TRUE(machine.run_with(1).l1_kept);
  Sampled ended(std::string("mov.u32 %r5, 10;\n") + kTurns);
  EXPECT_FALSE(ended.run_with(1).l1_kept);
}

TEST(SomeWarps, AreNotEnoughWhereOneTakesMuchLonger) {
  // The second warp of each block ends where the first has hardly begun. They take turns, for a
  // loop with loads may wait for another warp.
  Sampled machine(R"(
  setp.ge.u32 %p0, %r0, 32;
  selp.b32 %r5, 30000, 0x7FFFFFFF, %p0;
TURN:
  ld.global.u32 %r4, [%rd3];
  sub.u32 %r5, %r5, 1;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra TURN;
)");
  const LaunchReport report = machine.run_with(1);
  EXPECT_EQ(report.unsampled, kTooManyInstructions);
  EXPECT_FALSE(report.l1_kept);
  machine.request().sample = SampleOrder{1, 1 << 20, false, true, {}};
  EXPECT_EQ(launch(machine.request()).unsampled, kTooManyInstructions) << "so it is not run";
}

TEST(SomeWarps, AreNotEnoughWhereTheyMeet) {
  for (const std::string body :
       {"bar.sync 0;\n", ".shared .align 4 .b8 s[256];\nst.shared.u32 [s], %r4;\n"}) {
    Sampled machine(body);
    const LaunchReport report = machine.run_with(1, 20, true);
    EXPECT_EQ(report.unsampled, kTooManyInstructions) << body;
    EXPECT_GT(report.warp_instructions, 0u) << "says that this is why";
  }
}

}  // namespace
}  // namespace membound::vgpu::exec
