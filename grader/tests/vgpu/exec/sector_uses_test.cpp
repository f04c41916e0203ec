// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs of lanes, bytes of sectors that somebody uses, and who stores the same bytes.
#include <gtest/gtest.h>

#include <array>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"
#include "grader/vgpu/exec/traffic/sector_uses.hpp"

namespace membound::vgpu::exec {
namespace {

/// Lane l of a full warp wants four bytes at `place(l)`.
template <typename Place>
std::uint32_t runs_of(std::uint32_t touched, Place place) {
  std::array<std::uint64_t, 32> addresses;
  for (std::uint32_t lane = 0; lane < 32; ++lane) addresses[lane] = place(lane);
  WarpAccess access;
  access.mask = ~0U;
  access.bytes = 4;
  access.addresses = addresses.data();
  return run_sectors(access, touched);
}

TEST(RunSectors, OfARowAreWhatItsBytesFillWhereverItBegins) {
  EXPECT_EQ(runs_of(4, [](auto l) { return 4096 + 4 * l; }), 4U);
  EXPECT_EQ(runs_of(5, [](auto l) { return 4100 + 4 * l; }), 4U);
  EXPECT_EQ(runs_of(5, [](auto l) { return 8188 - 4 * l; }), 4U) << "backwards";
}

TEST(RunSectors, OfPiecesAreTheSumOfThePieces) {
  const auto pieces = [](auto l) { return 16 + l / 8 * 4096 + l % 8 * 4; };
  EXPECT_EQ(runs_of(8, pieces), 4U) << "records of 32 bytes, each across two sectors";
}

TEST(RunSectors, OfSingleLanesAreTheSectorsTouched) {
  EXPECT_EQ(runs_of(32, [](auto l) { return 4 + 128 * l; }), 32U);
  EXPECT_EQ(runs_of(12, [](auto l) { return 12 * l; }), 12U) << "a word in three";
}

constexpr const char* kOfArrays = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  ld.param.u64 %rd0, [in];
  ld.param.u64 %rd1, [out];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mad.lo.u32 %r3, %r1, %r2, %r0;
)";

constexpr std::uint32_t kUseBlocks = 512, kUseThreads = 128;

counters::Counters counted(const std::string& body) {
  Machine machine(std::string(kOfArrays) + body + "ret;\n}\n");
  machine.request().caches.enabled = true;
  machine.request().sm_count = 4;
  constexpr std::size_t kWords = std::size_t{kUseBlocks} * kUseThreads * 8;
  const auto in = machine.upload(std::vector<std::uint32_t>(kWords));
  const auto out = machine.upload(std::vector<std::uint32_t>(kWords));
  return machine.argument(in)
      .argument(out)
      .run("k", {kUseBlocks, 1, 1}, {kUseThreads, 1, 1})
      .counters.totals;
}

TEST(SectorUses, OneWordOfAStructOfEightLeavesTheRestUnused) {
  const auto c = counted(R"(
  mad.wide.u32 %rd2, %r3, 32, %rd0;
  ld.global.u32 %r4, [%rd2+8];
)");
  EXPECT_EQ(c.global_load_run_sectors, c.global_load_sectors);
  EXPECT_EQ(c.global_load_used_bytes, c.global_load_sectors * 4);
}

TEST(SectorUses, WhatAnotherLoadWantsIsUsed) {
  std::string body = "mad.wide.u32 %rd2, %r3, 32, %rd0;\n";
  for (int word = 0; word < 8; ++word)
    body += "ld.global.u32 %r4, [%rd2+" + std::to_string(4 * word) + "];\n";
  const auto c = counted(body);
  EXPECT_EQ(c.global_load_used_bytes, c.global_load_sectors * 32);
}

// Lines are looked at one in 64: the counts are estimates, their ratio is not.
TEST(SectorUses, BlocksThatStoreTheSameAreCountedEach) {
  const auto c = counted(R"(
  mov.u32 %r5, 0;
AGAIN:
  mad.lo.u32 %r6, %r5, 128, %r0;
  mad.wide.u32 %rd2, %r6, 4, %rd1;
  st.global.u32 [%rd2], %r0;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p0, %r5, 64;
  @%p0 bra AGAIN;
)");
  ASSERT_GT(c.distinct_store_bytes, 0U);
  EXPECT_EQ(c.warp_store_bytes, c.distinct_store_bytes * kUseBlocks);
}

TEST(SectorUses, AWarpThatStoresAgainIsCountedOnce) {
  std::string body = "mad.wide.u32 %rd2, %r3, 4, %rd1;\n";
  for (int turn = 0; turn < 8; ++turn) body += "st.global.u32 [%rd2], %r0;\n";
  const auto c = counted(body);
  ASSERT_GT(c.distinct_store_bytes, 0U);
  EXPECT_EQ(c.warp_store_bytes, c.distinct_store_bytes);
}

}  // namespace
}  // namespace membound::vgpu::exec
