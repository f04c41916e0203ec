// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A step in a loop is known by its last pattern of shared memory; another one is counted anew.
#include <gtest/gtest.h>

#include <array>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"
#include "grader/vgpu/memory/shared_banks.hpp"

namespace membound::vgpu::exec {
namespace {

/// A word and a vector of four words, with strides of 16, 32, 64 and again 16 … bytes between
/// lanes, each pattern twice, a row of 256 bytes further on.
constexpr const char* kStrides = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p<2>; .reg .b32 %r<16>;
  .shared .align 16 .b8 tile[8192];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, 0;
  mov.u32 %r9, tile;
TURN:
  shr.u32 %r2, %r1, 1;
  rem.u32 %r2, %r2, 3;
  add.u32 %r2, %r2, 4;
  shl.b32 %r3, %r0, %r2;
  and.b32 %r4, %r1, 1;
  mad.lo.u32 %r3, %r4, 256, %r3;
  add.u32 %r3, %r3, %r9;
  ld.shared.u32 %r5, [%r3];
  ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p0, %r1, 12;
  @%p0 bra TURN;
  ret;
})";

TEST(KnownPattern, AnAccessIsCountedByHowItsLanesLieNow) {
  std::uint64_t expected = 0;
  for (std::uint32_t turn = 0; turn < 12; ++turn) {
    std::array<std::uint32_t, 32> offsets;
    for (std::uint32_t lane = 0; lane < 32; ++lane)
      offsets[lane] = (lane << (turn / 2 % 3 + 4)) + turn % 2 * 256;
    for (const std::uint32_t bytes : {4u, 16u})
      expected += memory::shared_wavefronts(offsets.data(), ~0u, bytes, true).taken;
  }
  const LaunchReport report = Machine(kStrides).run("k", {1, 1, 1}, {32, 1, 1});
  ASSERT_FALSE(report.fault);
  EXPECT_EQ(report.counters.totals.shared_load_wavefronts, expected);
}

}  // namespace
}  // namespace membound::vgpu::exec
