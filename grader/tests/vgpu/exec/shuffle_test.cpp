// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A shuffle of the whole warp by one distance has a way of its own. It gives what the general way
/// gives, which a bit of `c` that counts for nothing asks for.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint32_t kShuffleLanes = 32, kIgnoredBit = 32;

/// Each lane shuffles its number + 100 and stores what it gets, and then the second result.
std::vector<std::uint32_t> shuffled(const std::string& mode, std::uint32_t distance,
                                    std::uint32_t c) {
  const std::string shuffle = "shfl.sync." + mode + ".b32 %r2|%p0, %r1, " +
                              std::to_string(distance) + ", " + std::to_string(c) +
                              ", 0xffffffff;\n";
  Machine machine(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd2, %rd0, %rd1;
  add.u32 %r1, %r0, 100;
)" + shuffle + R"(
  selp.u32 %r3, 1, 0, %p0;
  st.global.u32 [%rd2], %r2;
  st.global.u32 [%rd2+128], %r3;
  ret;
})");
  const std::uint64_t out = machine.upload(std::vector<std::uint32_t>(2 * kShuffleLanes, 7));
  const LaunchReport report = machine.argument(out).run("k", {1, 1, 1}, {kShuffleLanes, 1, 1});
  EXPECT_FALSE(report.fault);
  return machine.download<std::uint32_t>(out, 2 * kShuffleLanes);
}

class WholeWarpShuffle : public testing::TestWithParam<std::string> {};

TEST_P(WholeWarpShuffle, GivesWhatTheGeneralWayGives) {
  const std::uint32_t c = GetParam() == "up" ? 0 : 31;
  for (std::uint32_t distance = 0; distance < kShuffleLanes; ++distance)
    EXPECT_EQ(shuffled(GetParam(), distance, c), shuffled(GetParam(), distance, c | kIgnoredBit))
        << distance;
}

INSTANTIATE_TEST_SUITE_P(Modes, WholeWarpShuffle, testing::Values("up", "down", "bfly", "idx"));

TEST(Shuffle, LanesWithoutASourceKeepTheirValue) {
  const auto got = shuffled("down", 30, 31);
  EXPECT_EQ(got[1], 131u);
  EXPECT_EQ(got[2], 102u);
  EXPECT_EQ(got[kShuffleLanes + 1], 1u);
  EXPECT_EQ(got[kShuffleLanes + 2], 0u);
}

}  // namespace
}  // namespace membound::vgpu::exec
