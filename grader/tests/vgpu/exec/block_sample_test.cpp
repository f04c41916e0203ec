// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Of a large launch only some blocks are heard by the checkers; what the kernel computes, and what
/// is found without hearing every access, does not change.
#include "grader/vgpu/exec/state/execution_state.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

std::vector<std::uint64_t> sampled(std::uint64_t blocks, std::uint64_t most) {
  const BlockSample sample(blocks, most);
  std::vector<std::uint64_t> all;
  for (std::uint64_t block = 0; block < blocks; ++block)
    if (sample.has(block)) all.push_back(block);
  return all;
}

TEST(BlockSample, HasBothEndsAndPairsBetweenThem) {
  EXPECT_EQ(sampled(48, 16), (std::vector<std::uint64_t>{0, 1, 2, 3, 9, 10, 18, 19, 27, 28, 36, 37,
                                                         44, 45, 46, 47}));
}

TEST(BlockSample, IsAllOfASmallLaunch) {
  EXPECT_EQ(sampled(16, 16).size(), 16u);
  EXPECT_EQ(sampled(1000, 0).size(), 1000u);
  EXPECT_FALSE(BlockSample(16, 16).leaves_out_some());
}

TEST(BlockSample, StaysSmallWhateverTheGrid) {
  for (const std::uint64_t blocks : {33u, 50u, 64u, 1000u, 12345u, 1u << 20})
    EXPECT_LE(sampled(blocks, 32).size(), 50u) << blocks;
}

TEST(BlockSample, IsListedFromTheEndsAndTheMiddleFirst) {
  EXPECT_EQ(
      BlockSample(48, 16).places(),
      (std::vector<std::uint64_t>{0, 1, 46, 47, 27, 28, 9, 10, 44, 45, 2, 3, 18, 19, 36, 37}));
  EXPECT_EQ(BlockSample(6, 16).places(), (std::vector<std::uint64_t>{0, 1, 4, 5, 2, 3}));
  EXPECT_TRUE(BlockSample(16, 0).places().empty());
  for (const std::uint64_t blocks : {33u, 50u, 51u, 64u, 1000u, 12345u}) {
    std::vector<std::uint64_t> places = BlockSample(blocks, 32).places();
    std::sort(places.begin(), places.end());
    EXPECT_EQ(places, sampled(blocks, 32)) << blocks;
  }
}

/// The threads of block `racy` all write one word of shared memory; block `far` reads behind `out`.
constexpr const char* kKernel = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 racy, .param .u32 far) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 tile[4];
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [racy];
  ld.param.u32 %r1, [far];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p0, %r2, %r1;
  @%p0 bra NEAR;
  ld.global.u32 %r4, [%rd0+8];
NEAR:
  mad.lo.u32 %r5, %r2, 64, %r3;
  setp.ne.u32 %p2, %r2, %r0;
  @%p2 bra DONE;
  st.shared.u32 [tile], %r5;
DONE:
  ret;
}
)";

std::vector<std::string> found(std::uint32_t racy, std::uint32_t far, std::uint64_t most_blocks,
                               bool runs_the_others = true) {
  Machine machine(kKernel);
  const std::uint64_t out = machine.upload(std::vector<std::uint32_t>{7});
  machine.request().checks.switch_on("memcheck");
  machine.request().checks.switch_on("racecheck");
  machine.request().checks.most_blocks = most_blocks;
  if (!runs_the_others) machine.request().sample = SampleOrder{1, 1};
  const LaunchReport report =
      machine.argument(out).argument(racy).argument(far).run("k", {256, 1, 1}, {64, 1, 1});
  std::vector<std::string> kinds;
  for (const CheckReport& one : report.checks) kinds.push_back(one.kind);
  return kinds;
}

constexpr std::uint32_t kNoBlock = 1000, kUnheard = 100;

TEST(BlockSample, DecidesWhoseAccessesAreHeard) {
  const std::vector<std::string> race = {"data race"};
  EXPECT_EQ(found(0, kNoBlock, 32), race);
  EXPECT_EQ(found(255, kNoBlock, 32), race);
  EXPECT_EQ(found(kUnheard, kNoBlock, 32), std::vector<std::string>{});
  EXPECT_EQ(found(kUnheard, kNoBlock, 0), race);
}

TEST(BlockSample, HidesNoAccessOutOfBounds) {
  EXPECT_EQ(found(kNoBlock, kUnheard, 32), std::vector<std::string>{"out of bounds read"});
}

TEST(BlockSample, OnlyItsBlocksRunWhereTheLaunchIsSampled) {
  EXPECT_EQ(found(0, kNoBlock, 32, false), std::vector<std::string>{"data race"});
  EXPECT_EQ(found(kNoBlock, kUnheard, 32, false), std::vector<std::string>{});
  EXPECT_EQ(found(kNoBlock, kUnheard, 0, false), std::vector<std::string>{"out of bounds read"})
      << "0 is all";
}

/// Runs its loop `turns` times, in blocks of 2 warps.
LaunchReport looked_at(std::uint32_t turns, const std::string& more = "",
                       std::uint32_t blocks = 256) {
  Machine machine(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 turns) {
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  ld.param.u32 %r0, [turns];
AGAIN:
  sub.u32 %r0, %r0, 1;
  setp.ne.u32 %p0, %r0, 0;
  @%p0 bra AGAIN;
)" + more + "ret;\n}\n");
  const std::uint64_t out = machine.upload(std::vector<std::uint32_t>{7});
  machine.request().checks.switch_on("racecheck");
  machine.request().checks.most_blocks = 32;
  machine.request().sample = SampleOrder{1, 1};
  return machine.argument(out).argument(turns).run("k", {blocks, 1, 1}, {64, 1, 1});
}

TEST(BlockSample, BeginsNoFurtherBlockOnceEnoughIsLookedAt) {
  const LaunchReport few = looked_at(1), some = looked_at(5000);
  EXPECT_EQ(few.counters.totals.blocks, 16u) << "of those that would be heard";
  EXPECT_EQ(some.unsampled, "");
  EXPECT_GE(some.counters.totals.blocks, 2u);
  EXPECT_LT(some.counters.totals.blocks, 5u);
  EXPECT_EQ(looked_at(1u << 30).unsampled, "its blocks take too many instructions each");
}

TEST(BlockSample, RunsAPairOfNeighboursAtLeastAlsoOfASmallGrid) {
  EXPECT_EQ(looked_at(20'000).counters.totals.blocks, 2u) << "one of them would be enough";
  EXPECT_EQ(looked_at(20'000, "", 16).counters.totals.blocks, 2u);
  EXPECT_EQ(looked_at(1, "", 16).counters.totals.blocks, 16u) << "all of what is soon done";
}

TEST(BlockSample, RunsNoneOfALaunchWhoseBlocksLearnFromEachOther) {
  const LaunchReport report =
      looked_at(1, "atom.global.add.u32 %r1, [%rd0], 1;\nst.global.u32 [%rd0+4], %r1;\n");
  EXPECT_EQ(report.unsampled, "its blocks may learn from each other");
  EXPECT_EQ(report.warp_instructions, 0u);
}

}  // namespace
}  // namespace membound::vgpu::exec
