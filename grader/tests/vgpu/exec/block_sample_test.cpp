// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Of a large launch only some blocks are heard by the checkers; what the kernel computes, and what
/// is found without hearing every access, does not change.
#include "grader/vgpu/exec/state/block_sample.hpp"

#include <gtest/gtest.h>

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

std::vector<std::string> found(std::uint32_t racy, std::uint32_t far, std::uint64_t most_blocks) {
  Machine machine(kKernel);
  const std::uint64_t out = machine.upload(std::vector<std::uint32_t>{7});
  machine.request().checks.switch_on("memcheck");
  machine.request().checks.switch_on("racecheck");
  machine.request().checks.most_blocks = most_blocks;
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

}  // namespace
}  // namespace membound::vgpu::exec
