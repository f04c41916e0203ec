// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a launch says of its blocks, for the clock: who waits for whom, and for how long.
#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

using counters::BlockWork;
using counters::LaunchWork;

/// `body` sees %r0 = thread, %r1 = block, %rd0 = 64 KiB of zeros.
LaunchWork work_of(const std::string& body, std::uint32_t blocks, std::uint32_t threads) {
  Machine machine(R"(.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b64 place) malloc (.param .b64 size);
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %rd<4>; .reg .f32 %f<20>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
)" + body + "}\n");
  const std::uint64_t out = machine.upload(std::vector<std::uint32_t>(16384, 0));
  return machine.argument(out).run("k", {blocks, 1, 1}, {threads, 1, 1}).counters.work;
}

constexpr const char* kTwoLoadsInTurn = R"(
  ld.global.u32 %r2, [%rd0];
  mul.wide.u32 %rd1, %r2, 4;
  add.u64 %rd1, %rd0, %rd1;
  ld.global.u32 %r3, [%rd1];
  st.global.u32 [%rd0+256], %r3;
  ret;
)";

TEST(BlockWorkOf, BlocksThatAreAlikeAreOneKindAndOneRun) {
  const LaunchWork work = work_of(kTwoLoadsInTurn, 300, 64);
  ASSERT_EQ(work.kinds.size(), 1u);
  EXPECT_EQ(work.runs, (std::vector<counters::BlockRun>{{0, 300}}));
  EXPECT_EQ(work.kinds[0].load_batches, 2u);
  EXPECT_EQ(work.kinds[0].all_load_batches, 4u) << "of two warps";
}

TEST(BlockWorkOf, LoadsThatNeedNotWaitForEachOtherAreOneRound) {
  const LaunchWork work = work_of(R"(
  ld.global.u32 %r2, [%rd0];
  ld.global.u32 %r3, [%rd0+128];
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd0+256], %r2;
  ret;
)",
                                  1, 32);
  EXPECT_EQ(work.kinds.at(0).load_batches, 1u);
}

TEST(BlockWorkOf, TheFirstBlockIsAKindOfItsOwnWhereItAloneWorks) {
  const LaunchWork work =
      work_of(std::string("setp.ne.u32 %p0, %r1, 0;\n@%p0 ret;\n") + kTwoLoadsInTurn, 50, 64);
  EXPECT_EQ(work.runs, (std::vector<counters::BlockRun>{{0, 1}, {1, 49}}));
  EXPECT_EQ(work.kinds.at(0).load_batches, 2u);
  EXPECT_EQ(work.kinds.at(1).load_batches, 0u);
}

TEST(BlockWorkOf, TheSlowestWarpOfABlockCounts) {
  const LaunchWork work =
      work_of(std::string("setp.gt.u32 %p0, %r0, 31;\n@%p0 ret;\n") + kTwoLoadsInTurn, 4, 256);
  ASSERT_EQ(work.kinds.size(), 1u);
  EXPECT_EQ(work.kinds[0].load_batches, 2u) << "not a quarter of a round, the average of 8 warps";
  EXPECT_EQ(work.kinds[0].early_warps, 7u);
}

TEST(BlockWorkOf, ABarrierEndsAPhase) {
  // Warp 0 loads in the first phase, warp 1 in the second: together they wait twice.
  const LaunchWork work = work_of(R"(
  setp.lt.u32 %p0, %r0, 32;
  @%p0 ld.global.u32 %r2, [%rd0];
  bar.sync 0;
  @!%p0 ld.global.u32 %r2, [%rd0];
  bar.sync 0;
  bar.sync 0;
  st.global.u32 [%rd0+256], %r2;
  ret;
)",
                                  1, 64);
  const BlockWork& block = work.kinds.at(0);
  EXPECT_EQ(block.barriers_after_loads + block.other_barriers, 3u);
  EXPECT_GE(block.load_batches, 2u);
}

TEST(BlockWorkOf, AWarpsOwnPathIsShorterWhereTheSlowestTakeTurns) {
  // Warp 0 loads before the first barrier, warp 1 behind it: the block waits twice, each warp once.
  const BlockWork block = work_of(R"(
  setp.lt.u32 %p0, %r0, 32;
  @!%p0 bra MEET;
  ld.global.u32 %r2, [%rd0];
MEET:
  bar.sync 0;
  @%p0 bra STORE;
  ld.global.u32 %r2, [%rd0];
STORE:
  bar.sync 0;
  st.global.u32 [%rd0+256], %r2;
  ret;
)",
                                  1, 64)
                              .kinds.at(0);
  EXPECT_EQ(block.load_batches, 2u);
  EXPECT_EQ(block.warp_load_batches, 1u);
}

TEST(BlockWorkOf, AWarpsOwnPathIsTheBlocksWithoutBarriers) {
  const BlockWork block = work_of(kTwoLoadsInTurn, 1, 64).kinds.at(0);
  EXPECT_EQ(block.warp_load_batches, block.load_batches);
  EXPECT_EQ(block.warp_chain_clocks, block.chain_clocks);
}

std::uint64_t chain_clocks(const std::string& body) {
  return work_of(body + "ret;\n", 1, 32).kinds.at(0).chain_clocks;
}

std::string repeated(int times, const std::string& text) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(BlockWorkOf, AChainOfResultsTakesItsLatencies) {
  const std::uint64_t chain = chain_clocks(repeated(16, "fma.rn.f32 %f0, %f0, %f0, %f0;\n"));
  std::string side_by_side;
  for (int i = 0; i < 16; ++i) {
    const std::string f = "%f" + std::to_string(i);
    side_by_side += "fma.rn.f32 " + f + ", " + f + ", " + f + ", " + f + ";\n";
  }
  EXPECT_GT(chain, 2 * chain_clocks(side_by_side));
}

// A class without a cost would make these free, and a kernel full of them as fast as one without.
TEST(BlockWorkOf, ARoundOfALoopWaitsForItsBranch) {
  const auto loop = [](const std::string& before) {
    return chain_clocks("mov.u32 %r2, 0;\n" + before + R"(LOOP:
  fma.rn.f32 %f0, %f0, %f0, %f0;
  add.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 64;
  @%p1 bra LOOP;
)");
  };
  // A warp takes 27 clocks a round (counted loop, 1 sum, of clock_mechanisms_h200.csv); where ptxas
  // repeats the body only every fourth round counts and jumps.
  EXPECT_NEAR(static_cast<double>(loop(".pragma \"nounroll\";\n")), 64 * 27, 64);
  EXPECT_LT(loop(""), 64 * 10);
}

TEST(BlockWorkOf, WordsOfSharedMemoryThatAreOneLoadAreOneRequest) {
  const auto requests = [](const std::string& body) {
    return work_of(".shared .align 16 .b8 words[64];\n" + body + "ret;\n", 1, 32)
        .kinds.at(0)
        .all_shared_requests;
  };
  EXPECT_EQ(requests("ld.shared.u32 %r2, [words];\nld.shared.u32 %r3, [words+4];\n"), 1u);
  EXPECT_EQ(requests("ld.shared.u32 %r2, [words];\nld.shared.u32 %r3, [words+32];\n"), 2u);
}

TEST(BlockWorkOf, FencesMatchesAndDivisionsAreNotFree) {
  const std::uint64_t none = chain_clocks("");
  for (const auto& [clocks, text] : std::initializer_list<std::pair<unsigned, const char*>>{
           {900, "fence.acq_rel.sys;\n"},
           {200, "fence.acq_rel.gpu;\n"},
           {200, "membar.gl;\n"},
           {10, "fence.acq_rel.cta;\n"},
           {25, "match.any.sync.b32 %r2, %r0, -1;\n"},
           {20, "shfl.sync.bfly.b32 %r2, %r0, 1, 31, -1;\n"},
           {60, "div.u32 %r2, %r0, %r1;\n"},
           {40, "div.rn.f32 %f0, %f1, %f2;\n"},
           {40, "sqrt.rn.f32 %f0, %f1;\n"}})
    EXPECT_GE(chain_clocks(repeated(4, text)), none + clocks) << text;
}

TEST(BlockWorkOf, DeviceMallocTakesTensOfMicroseconds) {
  const LaunchWork work = work_of(R"(
  { .param .b64 size; .param .b64 place;
    mov.u64 %rd1, 16;
    st.param.b64 [size], %rd1;
    call.uni (place), malloc, (size);
    ld.param.b64 %rd2, [place]; }
  ret;
)",
                                  1, 32);
  EXPECT_GE(work.kinds.at(0).chain_clocks, 50'000u);
}

std::string products(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "fma.rn.f32 %f1, %f1, %f2, %f3;\n";
  return text;
}
/// Eight rounds of a loop, each with one load; `use` follows `work`.
std::string fetching_loop(const std::string& at_start, const std::string& work,
                          const std::string& at_end) {
  return "ld.global.f32 %f0, [%rd0];\nmov.u32 %r2, %r1;\nLOOP:\n" + at_start +
         "ld.global.f32 %f4, [%rd0+1024];\n" + work + at_end +
         "mov.f32 %f0, %f4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 8;\n"
         "@%p0 bra LOOP;\nst.global.f32 [%rd0+256], %f1;\nret;\n";
}
constexpr const char* kUse = "st.global.f32 [%rd0+512], %f0;\nbar.sync 0;\n";

TEST(BlockWorkOf, WhatIsFetchedLongBeforeItIsUsedIsNotWaitedFor) {
  const auto rounds = [](const std::string& body) {
    return work_of(body, 1, 32).kinds.at(0).load_batches;
  };
  EXPECT_EQ(rounds(fetching_loop("", products(1500), "add.f32 %f1, %f1, %f4;\n")), 1u)
      << "used in the same round, behind 1,500 products: the first load alone is waited for";
  EXPECT_EQ(rounds(fetching_loop(kUse, products(300), "")), 1u) << "used in the next round";
  EXPECT_EQ(rounds(fetching_loop(kUse, products(8), "")), 9u) << "with little to do meanwhile";
  EXPECT_EQ(rounds(fetching_loop("", "add.f32 %f1, %f1, %f4;\n" + products(300), "")), 9u)
      << "used at once, and worked on then";
}

TEST(BlockWorkOf, ALoadIsMovedUpToWhereItsAddressIsKnown) {
  const auto rounds = [](const std::string& before, const char* load = "ld.global.f32") {
    return work_of("mov.u32 %r2, %r1;\nLOOP:\n" + before + load +
                       " %f4, [%rd0+1024];\nadd.f32 %f1, %f1, %f4;\n"
                       "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 8;\n"
                       "@%p0 bra LOOP;\nst.global.f32 [%rd0+256], %f1;\nret;\n",
                   1, 32)
        .kinds.at(0)
        .load_batches;
  };
  EXPECT_EQ(rounds(products(1500)), 0u) << "1,500 products pass meanwhile";
  EXPECT_EQ(rounds(products(1500) + "shl.b64 %rd0, %rd0, 0;\n"), 0u) << "its address moves, too";
  EXPECT_EQ(rounds(products(1500), "ld.volatile.global.f32"), 8u);
  EXPECT_EQ(rounds(products(1500) + kUse), 8u) << "not over a store, nor over a barrier";
  EXPECT_EQ(rounds(products(1500) + "bar.sync 0;\n"), 8u);
}

TEST(BlockWorkOf, ACopyThatWasBegunRoundsAgoIsNotWaitedFor) {
  const auto rounds = [](const std::string& wait, int work) {
    return work_of(
               ".shared .align 16 .b8 tile[64];\nmov.u32 %r3, tile;\nmov.u32 %r2, %r1;\n"
               "LOOP:\ncp.async.ca.shared.global [%r3], [%rd0], 16;\n"
               "cp.async.commit_group;\n" +
                   wait + products(work) +
                   "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 8;\n@%p0 bra LOOP;\n"
                   "st.global.f32 [%rd0+256], %f1;\nret;\n",
               1, 1)
        .kinds.at(0)
        .load_batches;
  };
  EXPECT_EQ(rounds("cp.async.wait_group 0;\n", 300), 8u) << "begun just now";
  EXPECT_EQ(rounds("cp.async.wait_group 1;\n", 300), 0u) << "begun a round of 1,200 clocks ago";
  EXPECT_EQ(rounds("cp.async.wait_group 1;\n", 4), 8u) << "a round takes hardly any time";
}

}  // namespace
}  // namespace membound::vgpu::exec
