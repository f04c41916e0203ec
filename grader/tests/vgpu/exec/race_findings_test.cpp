// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How many findings a race is.
#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

/// Each thread of two warps writes its word in line 5 and reads the other warp's in line 6, with
/// nothing between: who comes second reads what was written, and writes what was read.
constexpr const char* kExchange = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "exchange.cu"
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<8>;
  .shared .align 4 .b8 tile[256];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  shl.b32 %r2, %r0, 2;
  xor.b32 %r3, %r2, 128;
  add.u32 %r2, %r2, %r1;
  add.u32 %r3, %r3, %r1;
  mov.u32 %r4, 1;
AGAIN:
  .loc 1 5 0
  st.shared.u32 [%r2], %r4;
  .loc 1 6 0
  ld.shared.u32 %r5, [%r3];
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 4;
  @%p1 bra AGAIN;
  ret;
})";

TEST(RaceFindings, OneMissingBarrierIsOneFinding) {
  Machine machine(kExchange);
  machine.request().checks.switch_on("racecheck");
  const LaunchReport report = machine.run("k", {1, 1, 1}, {64, 1, 1});
  ASSERT_EQ(report.checks.size(), 1u);
  EXPECT_GT(report.checks[0].count, 2u) << "both sides are counted";
  EXPECT_TRUE(report.checks[0].advice.starts_with("put __syncthreads() between lines 5 and 6"));
}

/// As in the inner loop of a tiled kernel: stored in line 5, a barrier in line 6, read in line 7,
/// and stored again by the next round.
constexpr const char* kRounds = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "rounds.cu"
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<8>;
  .shared .align 4 .b8 tile[256];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  shl.b32 %r2, %r0, 2;
  xor.b32 %r3, %r2, 128;
  add.u32 %r2, %r2, %r1;
  add.u32 %r3, %r3, %r1;
  mov.u32 %r4, 1;
AGAIN:
  .loc 1 5 0
  st.shared.u32 [%r2], %r4;
  .loc 1 6 0
  bar.sync 0;
  .loc 1 7 0
  ld.shared.u32 %r5, [%r3];
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 4;
  @%p1 bra AGAIN;
  ret;
})";

TEST(RaceFindings, WhereABarrierStandsTheNextOneIsBehindTheLoad) {
  Machine machine(kRounds);
  machine.request().checks.switch_on("racecheck");
  const LaunchReport report = machine.run("k", {1, 1, 1}, {64, 1, 1});
  ASSERT_EQ(report.checks.size(), 1u);
  EXPECT_TRUE(report.checks[0].advice.starts_with(
      "put __syncthreads() after line 7, before the next iteration comes to line 5"))
      << report.checks[0].advice;
}

/// sums[t] += sums[t ^ 32] in line 5, in a loop whose rounds a barrier in line 6 separates.
constexpr const char* kAddsInOneLine = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "sums.cu"
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<8>;
  .shared .align 4 .b8 sums[256];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, sums;
  shl.b32 %r2, %r0, 2;
  xor.b32 %r3, %r2, 128;
  add.u32 %r2, %r2, %r1;
  add.u32 %r3, %r3, %r1;
  .loc 1 3 0
  st.shared.u32 [%r2], %r0;
  bar.sync 0;
  mov.u32 %r4, 1;
AGAIN:
  .loc 1 5 0
  ld.shared.u32 %r5, [%r3];
  st.shared.u32 [%r2], %r5;
  .loc 1 6 0
  bar.sync 0;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p1, %r4, 4;
  @%p1 bra AGAIN;
  ret;
})";

TEST(RaceFindings, ALineThatLoadsAndStoresIsToldOfTheBarrierInsideOfIt) {
  Machine machine(kAddsInOneLine);
  machine.request().checks.switch_on("racecheck");
  const LaunchReport report = machine.run("k", {1, 1, 1}, {64, 1, 1});
  ASSERT_GE(report.checks.size(), 1u);
  EXPECT_TRUE(report.checks[0].advice.starts_with("a barrier is missing inside of this line"))
      << report.checks[0].advice;
}

/// Thread 31 writes a word in line 5, all read it in line 6; nvcc keeps one word of the array.
constexpr const char* kOneForAll = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "offsets.cu"
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<8>;
  .shared .align 4 .b8 _ZZ7offsetsPiS_E4base_$_31[4];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, _ZZ7offsetsPiS_E4base_$_31;
  setp.ne.u32 %p1, %r0, 31;
  @%p1 bra READ;
  .loc 1 5 0
  st.shared.u32 [%r1], %r0;
READ:
  .loc 1 6 0
  ld.shared.u32 %r5, [%r1];
  ret;
})";

TEST(RaceFindings, TheWidestRaceOfTwoLinesIsTold) {
  Machine machine(kOneForAll);
  machine.request().checks.switch_on("racecheck");
  const LaunchReport report = machine.run("k", {1, 1, 1}, {128, 1, 1});
  ASSERT_FALSE(report.checks.empty());
  EXPECT_TRUE(report.checks[0].advice.starts_with("put __syncthreads() between lines 5 and 6"))
      << report.checks[0].advice;
  EXPECT_NE(report.checks[0].text.find("offset 0 of base (4 bytes"), std::string::npos)
      << report.checks[0].text;
}

/// A loop of line 5 four times, as nvcc unrolls it: each thread reads its neighbour's word of the
/// next warp while that one writes.
constexpr const char* kUnrolled = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "unrolled.cu"
.visible .entry k() {
  .reg .b32 %r<8>;
  .shared .align 4 .b8 tile[2048];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  shl.b32 %r2, %r0, 2;
  xor.b32 %r3, %r2, 128;
  add.u32 %r2, %r2, %r1;
  add.u32 %r3, %r3, %r1;
  .loc 1 5 0
  st.shared.u32 [%r2], %r0;
  ld.shared.u32 %r5, [%r3];
  st.shared.u32 [%r2+512], %r0;
  ld.shared.u32 %r5, [%r3+512];
  st.shared.u32 [%r2+1024], %r0;
  ld.shared.u32 %r5, [%r3+1024];
  ret;
})";

TEST(RaceFindings, TurnsOfAnUnrolledLoopAreOneFinding) {
  Machine machine(kUnrolled);
  machine.request().checks.switch_on("racecheck");
  const LaunchReport report = machine.run("k", {1, 1, 1}, {64, 1, 1});
  EXPECT_EQ(report.checks.size(), 1u);
}

/// Lane 0 of two warps takes a lock in line 5, adds to a word in line 6, gives the lock back in
/// line 7; `behind` and `before` stand around line 6.
std::string with_lock(const std::string& behind, const std::string& before,
                      const std::string& give_back) {
  const std::string head = R"(.version 8.0
.target sm_90
.address_size 64
.file 1 "lock.cu"
.visible .entry k(.param .u64 out) {
  .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
AGAIN:
  .loc 1 5 0
  atom.global.cas.b32 %r3, [%rd1+4], 0, 1;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra AGAIN;
)";
  const std::string body = R"(
  .loc 1 6 0
  ld.global.u32 %r4, [%rd1];
  add.u32 %r4, %r4, 1;
  st.global.u32 [%rd1], %r4;
)";
  return head + behind + body + before + "\n  .loc 1 7 0\n" + give_back + "\nDONE:\n  ret;\n}";
}

std::string advice_on(const std::string& ptx) {
  Machine machine(ptx);
  machine.request().checks.switch_on("racecheck");
  const auto out = machine.upload(std::vector<std::uint32_t>(4));
  const LaunchReport report = machine.argument(out).run("k", {1, 1, 1}, {64, 1, 1});
  std::string all;
  for (const CheckReport& found : report.checks) all += found.advice + "\n";
  return all;
}

TEST(RaceFindings, ALockGivenBackByAPlainStoreIsNamedAndOneWithFencesIsSilent) {
  constexpr const char* kFence = "membar.gl;";
  EXPECT_EQ(advice_on(with_lock(kFence, kFence, "atom.global.exch.b32 %r5, [%rd1+4], 0;")), "");
  EXPECT_NE(advice_on(with_lock(kFence, kFence, "mov.u32 %r6, 0; st.global.u32 [%rd1+4], %r6;"))
                .find("give the lock back with atomicExch"),
            std::string::npos);
}

}  // namespace
}  // namespace membound::vgpu::exec
