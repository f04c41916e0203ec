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

}  // namespace
}  // namespace membound::vgpu::exec
