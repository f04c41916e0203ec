// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Some blocks of a launch stand for all: what is counted then, and what is not run so at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/sampled_fixture.hpp"
#include "grader/vgpu/exec/launch/launch.hpp"

namespace membound::vgpu::exec {
namespace {

/// Does 4 × `turns` warp instructions more in one block of `of`.
std::string one_of(int of, int turns) {
  const std::string last = std::to_string(of - 1);
  return "and.b32 %r5, %r1, " + last + ";\nsetp.eq.u32 %p0, %r5, " + last + ";\nselp.b32 %r5, " +
         std::to_string(turns) + ", 1, %p0;\n" + kTurns;
}

/// Who stores the same bytes as another, and what becomes of a line in L2, is not known of blocks
/// that did not run.
counters::Counters without_what_needs_all(counters::Counters totals) {
  totals.distinct_store_bytes = totals.warp_store_bytes = 0;
  totals.dram_fetched_pieces = totals.dram_lone_pieces = 0;
  totals.dram_filled_pieces = totals.dram_half_pieces = 0;
  // Which rows go on is not known at the ends of what ran.
  EXPECT_LE(totals.dram_read_runs, totals.blocks / 50);
  EXPECT_LE(totals.dram_written_runs, totals.blocks / 50);
  totals.dram_read_runs = totals.dram_written_runs = 0;
  return totals;
}

TEST(SampledLaunch, BlocksThatAreAlikeCountAsAllOfThemDo) {
  Sampled machine;
  const LaunchReport whole = machine.run_with({}), some = machine.run_with(7);
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_EQ(without_what_needs_all(some.counters.totals),
            without_what_needs_all(whole.counters.totals));
  EXPECT_EQ(some.counters.work.kinds, whole.counters.work.kinds);
  EXPECT_EQ(some.counters.work.runs, whole.counters.work.runs);
  EXPECT_EQ(some.counters.work.instructions, whole.counters.work.instructions);
  EXPECT_EQ(some.sample->of, kAllBlocks);
  EXPECT_LT(some.sample->blocks, 400u);
  EXPECT_EQ(some.sample->stored_bytes, some.sample->blocks * kSampleThreads * 4);
  EXPECT_EQ(some.sample->loaded_bytes, some.sample->blocks * kSampleThreads * 4);
  EXPECT_EQ(some.sample->error, 0);
}

TEST(SampledLaunch, RowsThatLieApartAreRuns) {
  // Each block's 256 bytes lie 4 KiB from those of the next.
  Sampled machine(
      "mad.lo.u32 %r2, %r1, 1024, %r0;\nmul.wide.u32 %rd2, %r2, 4;\n"
      "add.u64 %rd4, %rd1, %rd2;\n");
  const std::uint32_t blocks = 1003;
  const auto in = machine.space().allocate(std::uint64_t{blocks} * 4096, 256, {});
  const auto out = machine.space().allocate(std::uint64_t{blocks} * 4096, 256, {});
  machine.request().sample = SampleOrder{7, 1 << 20};
  const LaunchReport some =
      machine.argument(*in).argument(*out).run("k", {blocks, 1, 1}, {64, 1, 1});
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_NEAR(static_cast<double>(some.counters.totals.dram_written_runs), blocks, blocks / 50.0);
  EXPECT_LE(some.counters.totals.dram_read_runs, blocks / 50);
}

TEST(SampledLaunch, WhatAllBlocksReadIsWaitedForInTheFirstWaveOnly) {
  Sampled machine("ld.global.u32 %r5, [%rd0];\nadd.u32 %r4, %r4, %r5;\n");
  const LaunchReport each = machine.run_with(7);
  ASSERT_TRUE(each.sample) << each.unsampled;
  const counters::Counters& totals = each.counters.totals;
  const std::uint64_t own = std::uint64_t{kAllBlocks} * kSampleThreads * 4 / 32;
  EXPECT_GT(totals.l2_read_sectors, own) << "the word that all read, too, once for each SM";
  EXPECT_GE(totals.l2_waiting_sectors, own * 95 / 100);
  EXPECT_LE(totals.l2_waiting_sectors, own * 105 / 100);
}

TEST(SampledLaunch, WhatTheFirstBlockAloneDoesCountsOnce) {
  Sampled machine(std::string("setp.eq.u32 %p0, %r1, 0;\nselp.b32 %r5, 1000, 1, %p0;\n") + kTurns);
  const LaunchReport whole = machine.run_with({}), some = machine.run_with(7);
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_EQ(without_what_needs_all(some.counters.totals),
            without_what_needs_all(whole.counters.totals));
  EXPECT_EQ(some.counters.work.runs, whole.counters.work.runs);
}

TEST(SampledLaunch, BlocksThatTakeTurnsAreFoundInTheirShares) {
  Sampled machine(std::string("rem.u32 %r5, %r1, 3;\nmul.lo.u32 %r5, %r5, 8;\n") + kTurns);
  const LaunchReport whole = machine.run_with({});
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const LaunchReport some = machine.run_with(seed);
    ASSERT_TRUE(some.sample) << some.unsampled;
    const auto all = static_cast<double>(whole.counters.totals.warp_instructions);
    EXPECT_NEAR(static_cast<double>(some.counters.totals.warp_instructions) / all, 1, 0.1);
    EXPECT_GT(some.sample->error, 0);
  }
}

TEST(SampledLaunch, OneSeedGivesTheSameWithAnyNumberOfWorkers) {
  const std::string body = std::string("and.b32 %r5, %r1, 15;\n") + kTurns;
  Sampled alone(body, 1), together(body, 2);
  const LaunchReport first = alone.run_with(3);
  ASSERT_TRUE(first.sample) << first.unsampled;
  for (int i = 0; i < 20; ++i) {
    const LaunchReport again = together.run_with(3);
    ASSERT_EQ(again.counters.totals, first.counters.totals);
    ASSERT_EQ(again.counters.work.runs, first.counters.work.runs);
    ASSERT_EQ(again.sample->error, first.sample->error);
  }
}

TEST(SampledLaunch, AFewBlocksThatDoMuchMoreAreNoSample) {
  Sampled machine(one_of(64, 4000));
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) refused += !machine.run_with(seed).sample;
  EXPECT_GT(refused, 0);
}

TEST(SampledLaunch, ABlockThatTakesLongIsComparedWithItsNeighbour) {
  Sampled machine(std::string("and.b32 %r5, %r1, 1;\nmad.lo.u32 %r5, %r5, 50000, 90000;\n") +
                  kTurns);
  EXPECT_THAT(machine.run_with(1, 20).unsampled, testing::HasSubstr("unequal work"));
}

TEST(SampledLaunch, WhatPreparesForOneRunsWhole) {
  Sampled machine;
  const LaunchReport whole = machine.run_with({}), all = machine.prepare(kAllBlocks);
  EXPECT_EQ(all.unsampled, "");
  EXPECT_FALSE(all.sample) << "nothing is an estimate";
  EXPECT_EQ(all.counters.totals, without_what_needs_all(whole.counters.totals));
  EXPECT_EQ(all.counters.work.runs, whole.counters.work.runs);
}

TEST(SampledLaunch, OfALargeOneThatPreparesSomeAreCountedAndAllLeaveTheirResults) {
  const std::string body = std::string("mov.u32 %r4, 0;\nmov.u32 %r5, 9;\n") + kTurns;
  Sampled machine(body);
  const LaunchReport whole = machine.run_with({}), some = machine.prepare(kAllBlocks, false, 1000);
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_TRUE(some.sample->prepares);
  EXPECT_LT(some.sample->blocks, std::uint64_t{kAllBlocks} / 2);
  EXPECT_EQ(some.counters.totals.warp_instructions, whole.counters.totals.warp_instructions);
  EXPECT_EQ(some.counters.totals.blocks, kAllBlocks);
  EXPECT_EQ(machine.prepared(kAllBlocks),
            std::vector<std::uint32_t>(std::size_t{kAllBlocks} * kSampleThreads, 9));
}

TEST(SampledLaunch, OfALargeOneThatPreparesAllAreCountedWhereASampleTellsNothing) {
  Sampled machine(one_of(16, 400));
  const LaunchReport whole = machine.run_with({}),
                     all = machine.prepare(kAllBlocks, false, 100'000);
  EXPECT_EQ(all.unsampled, "");
  EXPECT_FALSE(all.sample) << "nothing is an estimate";
  EXPECT_EQ(all.counters.totals.warp_instructions, whole.counters.totals.warp_instructions);
  EXPECT_EQ(all.counters.totals.blocks, kAllBlocks);
}

TEST(SampledLaunch, OneThatPreparesIsNoSampleWhereAFewThatWereNotCountedDoMuchMore) {
  EXPECT_THAT(Sampled(one_of(64, 4000)).prepare(kAllBlocks, false, 1000).unsampled,
              testing::HasSubstr("unequal work"));
}

TEST(SampledLaunch, WhatPreparesForOneMayNotTakeLong) {
  Sampled machine(std::string("mov.u32 %r5, 1000;\n") + kTurns);
  EXPECT_EQ(machine.prepare(500).unsampled, "");
  const LaunchReport report = machine.prepare(kAllBlocks);
  EXPECT_EQ(report.unsampled, "a launch before the last takes too many instructions");
  EXPECT_EQ(report.counters.totals.blocks, 0u);
}

TEST(SampledLaunch, WhatPreparesForOneLeavesTheOutputAlone) {
  EXPECT_EQ(Sampled().prepare(50, true).unsampled, "a launch before the last uses the output");
}

TEST(SampledLaunch, BlocksThatTakeTooLongAreNotRunToTheirEnd) {
  Sampled machine(std::string("mov.u32 %r5, 0x7FFFFFFF;\n") + kTurns);
  const LaunchReport report = machine.run_with(1);
  EXPECT_EQ(report.unsampled, kTooManyInstructions);
  EXPECT_GT(report.warp_instructions, 0u) << "says that this is why";
}

TEST(SampledLaunch, OfBlocksThatTakeLongFewerRunThanAnSmHolds) {
  Sampled machine(std::string("mov.u32 %r5, 200000;\n") + kTurns);  // four take 6.4 million
  const LaunchReport some = machine.run_with(1);
  ASSERT_TRUE(some.sample) << some.unsampled;
  EXPECT_LT(some.sample->blocks, 20u);
  EXPECT_EQ(some.counters.work.kinds.size(), 1u);
  EXPECT_EQ(some.counters.totals.blocks, kAllBlocks);
  EXPECT_EQ(some.counters.totals.global_load_requests, kAllBlocks * 2u) << "each of two warps'";
}

TEST(SampledLaunch, BlocksThatLearnFromEachOtherAreNotSampled) {
  Sampled machine("atom.global.add.u32 %r4, [%rd0], 1;\n");
  const LaunchReport report = machine.run_with(1);
  EXPECT_EQ(report.unsampled, "its blocks may learn from each other");
  EXPECT_EQ(report.counters.totals.blocks, 0u) << "nothing ran";
}

}  // namespace
}  // namespace membound::vgpu::exec
