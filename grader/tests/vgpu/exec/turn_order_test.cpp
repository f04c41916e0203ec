// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Warps and blocks that take their turns in drawn orders: what depends on the order comes out
/// otherwise, what is in order does not, and equal seeds give equal results.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint32_t kWarps = 8;
constexpr std::uint64_t kSeeds = 20;  ///< of 20 orders of 8 warps some differ, whatever is asked

/// Lane 0 of each warp: the last one's number stays in word 0 (`last`); counts by reading and
/// writing in two atomics, between which others may do so (`count`); behind a barrier, all add up
/// what all have put (`sum`). No data race in any of them.
constexpr const char* kOrders = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "kernel.cu"
.visible .entry last(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
  shr.u32 %r3, %r1, 5;
  atom.global.exch.b32 %r4, [%rd1], %r3;
DONE:
  ret;
}
.visible .entry count(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
  .loc 1 10 1
  atom.global.add.u32 %r3, [%rd1], 0;
  add.u32 %r3, %r3, 1;
  .loc 1 11 1
  atom.global.exch.b32 %r4, [%rd1], %r3;
DONE:
  ret;
}
.visible .entry late(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  bar.sync 0;
  and.b32 %r2, %r1, 31;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
  shr.u32 %r3, %r1, 5;
  atom.global.exch.b32 %r4, [%rd1], %r3;
DONE:
  ret;
}
.visible .entry sum(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
  .shared .align 4 .b8 words[32];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  shr.u32 %r3, %r1, 5;
  mov.u32 %r4, words;
  shl.b32 %r5, %r3, 2;
  add.u32 %r5, %r5, %r4;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra MEET;
  st.volatile.shared.u32 [%r5], %r3;
MEET:
  bar.sync 0;
  setp.ne.u32 %p2, %r1, 0;
  @%p2 bra DONE;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
NEXT:
  add.u32 %r8, %r4, %r7;
  ld.volatile.shared.u32 %r9, [%r8];
  add.u32 %r6, %r6, %r9;
  add.u32 %r7, %r7, 4;
  setp.lt.u32 %p1, %r7, 32;
  @%p1 bra NEXT;
  st.global.u32 [%rd1], %r6;
DONE:
  ret;
})";

std::uint32_t result_of(const std::string& kernel, std::optional<std::uint64_t> seed,
                        std::optional<LineRange> lines = {}) {
  Machine machine(kOrders);
  machine.request().order_lines = lines;
  const auto out = machine.upload(std::vector<std::uint32_t>(4));
  machine.request().warp_order_seed = seed;
  const LaunchReport report = machine.argument(out).run(kernel, {1, 1, 1}, {32 * kWarps, 1, 1});
  EXPECT_FALSE(report.fault);
  return machine.download<std::uint32_t>(out, 1)[0];
}

std::set<std::uint32_t> results_of(const std::string& kernel, std::optional<LineRange> lines = {}) {
  std::set<std::uint32_t> all;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) all.insert(result_of(kernel, seed, lines));
  return all;
}

/// Thread 0 of each block takes tickets until all are gone, and stores how many it had.
constexpr const char* kTickets = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry share(.param .u64 taken, .param .u64 had) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [taken];
  ld.param.u64 %rd2, [had];
  mov.u32 %r1, %tid.x;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  mov.u32 %r2, 0;
NEXT:
  atom.global.add.u32 %r3, [%rd1], 1;
  setp.ge.u32 %p2, %r3, 640;
  @%p2 bra STORE;
  add.u32 %r2, %r2, 1;
  bra NEXT;
STORE:
  mov.u32 %r4, %ctaid.x;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r2;
DONE:
  ret;
})";

TEST(TurnOrder, BlocksThatShareWorkOutByTicketsTakeEqualParts) {
  constexpr std::uint32_t kBlocks = 64;
  Machine machine(kTickets);
  const auto taken = machine.upload(std::vector<std::uint32_t>(1));
  const auto had = machine.upload(std::vector<std::uint32_t>(kBlocks));
  machine.request().limits.resident_blocks = kBlocks;
  const LaunchReport report =
      machine.argument(taken).argument(had).run("share", {kBlocks, 1, 1}, {64, 1, 1});
  EXPECT_FALSE(report.fault);
  EXPECT_EQ(machine.download<std::uint32_t>(had, kBlocks),
            std::vector<std::uint32_t>(kBlocks, 640 / kBlocks));
}

TEST(TurnOrder, WithoutASeedItIsThatOfTheNumbers) {
  EXPECT_EQ(result_of("last", std::nullopt), kWarps - 1);
  EXPECT_EQ(result_of("count", std::nullopt), kWarps);
}

TEST(TurnOrder, WhoIsLastIsDrawn) { EXPECT_GT(results_of("last").size(), 3u); }

TEST(TurnOrder, WhoIsLastBehindABarrierIsDrawnAnew) { EXPECT_GT(results_of("late").size(), 3u); }

TEST(TurnOrder, ATurnMayEndBetweenTwoAtomics) {
  EXPECT_LT(*results_of("count").begin(), kWarps) << "some additions get lost";
}

TEST(TurnOrder, AtChosenLinesAloneOthersGoFirstThere) {
  EXPECT_LT(*results_of("count", LineRange{11, 11}).begin(), kWarps);
  EXPECT_LT(*results_of("count", LineRange{1, 20}).begin(), kWarps);
  EXPECT_EQ(results_of("count", LineRange{12, 20}), std::set<std::uint32_t>{kWarps});
  EXPECT_EQ(results_of("late", LineRange{12, 20}), std::set{result_of("late", std::nullopt)});
}

TEST(TurnOrder, ABarrierMakesAnyOrderRight) {
  EXPECT_EQ(results_of("sum"), std::set<std::uint32_t>{kWarps * (kWarps - 1) / 2});
}

TEST(TurnOrder, EqualSeedsGiveEqualResults) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const char* kernel : {"last", "count", "late"})
      EXPECT_EQ(result_of(kernel, seed), result_of(kernel, seed)) << kernel << ", seed " << seed;
}

TEST(TurnOrder, CheckersFindNothingInWhatHasNoRace) {
  for (const char* kernel : {"last", "count", "sum"}) {
    Machine machine(kOrders);
    machine.request().checks.switch_on("all");
    machine.request().warp_order_seed = 3;
    const auto out = machine.upload(std::vector<std::uint32_t>(4));
    EXPECT_TRUE(machine.argument(out).run(kernel, {1, 1, 1}, {32 * kWarps, 1, 1}).checks.empty())
        << kernel;
  }
}

/// Lanes of one warp at one word: whose number stays in word 0 by exchanging (`stays`), by
/// comparing and swapping from 0 (`first`); the place that lane 5 gets by adding (`place`), in
/// shared memory too (`shared`); what all have added in the end (`all`).
constexpr const char* kLanes = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry stays(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  atom.global.exch.b32 %r4, [%rd1], %r1;
  ret;
}
.visible .entry first(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  add.u32 %r1, %r1, 1;
  atom.global.cas.b32 %r4, [%rd1], 0, %r1;
  ret;
}
.visible .entry place(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  atom.global.add.u32 %r4, [%rd1+4], 1;
  setp.eq.u32 %p1, %r1, 5;
  @%p1 st.global.u32 [%rd1], %r4;
  ret;
}
.visible .entry shared(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  .shared .align 4 .b8 words[4];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, words;
  mov.u32 %r3, 0;
  st.shared.u32 [%r2], %r3;
  bar.sync 0;
  atom.shared.add.u32 %r4, [%r2], 1;
  setp.eq.u32 %p1, %r1, 5;
  @%p1 st.global.u32 [%rd1], %r4;
  ret;
}
.visible .entry all(.param .u64 out) {
  .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  red.global.add.u32 [%rd1], %r1;
  ret;
})";

std::uint32_t result_of_lanes(const std::string& kernel, std::optional<std::uint64_t> seed,
                              std::uint32_t line = 0) {
  Machine machine(kLanes);
  const auto out = machine.upload(std::vector<std::uint32_t>(4));
  machine.request().lane_order_seed = seed;
  if (line != 0) machine.request().order_lines = LineRange{line, line};
  EXPECT_FALSE(machine.argument(out).run(kernel, {1, 1, 1}, {32, 1, 1}).fault);
  return machine.download<std::uint32_t>(out, 1)[0];
}

std::set<std::uint32_t> results_of_lanes(const std::string& kernel, std::uint32_t line = 0) {
  std::set<std::uint32_t> all;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    all.insert(result_of_lanes(kernel, seed, line));
  return all;
}

TEST(LaneOrder, WithoutASeedItIsThatOfTheNumbers) {
  EXPECT_EQ(result_of_lanes("stays", std::nullopt), 31u);
  EXPECT_EQ(result_of_lanes("first", std::nullopt), 1u);
  EXPECT_EQ(result_of_lanes("place", std::nullopt), 5u);
  EXPECT_EQ(result_of_lanes("shared", std::nullopt), 5u);
}

TEST(LaneOrder, WithOneItIsDrawn) {
  for (const char* kernel : {"stays", "first", "place", "shared"})
    EXPECT_GT(results_of_lanes(kernel).size(), 5u) << kernel;
}

TEST(LaneOrder, EverybodyIsServedOnce) {
  EXPECT_EQ(results_of_lanes("all"), std::set<std::uint32_t>{31 * 32 / 2});
}

TEST(LaneOrder, EqualSeedsGiveEqualResults) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    for (const char* kernel : {"stays", "first", "place", "shared"})
      EXPECT_EQ(result_of_lanes(kernel, seed), result_of_lanes(kernel, seed)) << kernel << seed;
}

TEST(LaneOrder, OfOtherLinesThanTheChosenOneItStays) {
  EXPECT_EQ(results_of_lanes("place", 1000), std::set<std::uint32_t>{5});
}

/// Blocks that wait for the one before them: for that of the ticket before (`by_ticket`), or of the
/// number before (`by_number`). Word 0 is the ticket, word 1 + i says that block i has come; the
/// blocks count how often they found that the other had not (word 63).
constexpr const char* kWaiting = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry by_ticket(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  atom.global.add.u32 %r1, [%rd1], 1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra COME;
WAIT:
  ld.relaxed.gpu.global.u32 %r2, [%rd2];
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra COME;
  red.global.add.u32 [%rd1+252], 1;
  bra WAIT;
COME:
  st.relaxed.gpu.global.u32 [%rd2+4], 1;
  ret;
}
.visible .entry by_number(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra COME;
WAIT:
  ld.relaxed.gpu.global.u32 %r2, [%rd2];
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra WAIT;
COME:
  st.relaxed.gpu.global.u32 [%rd2+4], 1;
  ret;
})";

constexpr std::uint32_t kBlocks = 60;  ///< of which 4 run at once

/// Whether all blocks come to their end.
bool ends(const std::string& kernel, std::optional<std::uint64_t> seed,
          std::uint32_t* waited = nullptr) {
  Machine machine(kWaiting);
  const auto out = machine.upload(std::vector<std::uint32_t>(64));
  machine.request().warp_order_seed = seed;
  machine.request().limits.resident_blocks = 4;
  machine.request().limits.warp_instructions = 1 << 18;
  const LaunchReport report = machine.argument(out).run(kernel, {kBlocks, 1, 1}, {1, 1, 1});
  if (waited != nullptr) *waited = machine.download<std::uint32_t>(out, 64)[63];
  return !report.fault;
}

TEST(BlockOrder, WithoutASeedItIsThatOfTheNumbers) { EXPECT_TRUE(ends("by_number", std::nullopt)); }

TEST(BlockOrder, ABlockThatWaitsForALowerNumberMayWaitForEver) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    EXPECT_FALSE(ends("by_number", seed)) << "seed " << seed;
}

TEST(LaneOrder, EveryPartOfAVectorIsAddedByAnyNumberOfWorkers) {
  constexpr const char* kAdds = R"(.version 8.1
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .f32 %f<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.f32 %f1, 0f3F800000;
  mov.f32 %f2, 0f40000000;
  red.global.add.v2.f32 [%rd1], {%f1, %f2};
  ret;
})";
  for (const std::uint32_t workers : {1u, 2u})
    for (const bool drawn : {false, true}) {
      Machine machine{std::string(kAdds)};
      machine.request().limits.worker_threads = workers;
      if (drawn) machine.request().lane_order_seed = 1;
      const std::uint64_t out = machine.upload(std::vector<float>(2));
      machine.argument(out).run("k", {kBlocks, 1, 1}, {32, 1, 1});
      EXPECT_EQ(machine.download<float>(out, 2),
                (std::vector<float>{32 * kBlocks, 2 * 32 * kBlocks}))
          << workers << " workers";
    }
}

TEST(BlockOrder, ABlockThatWaitsForALowerTicketEnds) {
  std::uint32_t all = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    std::uint32_t waited = 0;
    EXPECT_TRUE(ends("by_ticket", seed, &waited)) << "seed " << seed;
    all += waited;
  }
  EXPECT_GT(all, 0u) << "no block ever came before the one that it waits for";
}

}  // namespace
}  // namespace membound::vgpu::exec
