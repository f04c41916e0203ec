// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// An L1 belongs to an SM: what its blocks share is fetched once, whoever runs them.
#include <gtest/gtest.h>

#include "grader/tests/vgpu/exec/machine_fixture.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::uint32_t kBlocks = 64, kThreads = 64;
/// Block b reads the first 8 * (b % 4 + 1) rows of 64 words of one table: 64 sectors each 8 rows.
constexpr const char* kTable = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 table) {
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [table];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %ctaid.x;
  and.b32 %r2, %r1, 3;
  mad.lo.u32 %r2, %r2, 8, 8;
  mov.u32 %r3, 0;
ROW:
  mad.lo.u32 %r4, %r3, 64, %r0;
  mul.wide.u32 %rd1, %r4, 4;
  add.u64 %rd1, %rd0, %rd1;
  ld.global.u32 %r5, [%rd1];
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p, %r3, %r2;
  @%p bra ROW;
  ret;
})";
constexpr std::uint64_t kSectorsAsked = kBlocks / 4 * (64 + 128 + 192 + 256);

/// A machine of `sms` with the cache model.
struct Sms : Machine {
  explicit Sms(std::uint32_t sms, std::string_view ptx = kTable) : Machine(ptx) {
    request().sm_count = sms;
    request().caches.enabled = true;
    table = upload(std::vector<std::uint32_t>(std::size_t{32} * kThreads));
  }
  counters::Counters run_table() {
    return argument(table).run("k", {kBlocks, 1, 1}, {kThreads, 1, 1}).counters.totals;
  }
  std::uint64_t table = 0;
};

TEST(CacheModel, BlocksOfOneSmShareItsL1) {
  Sms machine(1);
  const counters::Counters found = machine.run_table();
  EXPECT_EQ(found.l2_read_sectors, 256u) << "the table, once";
  EXPECT_EQ(found.l1_load_hit_sectors, kSectorsAsked - 256);
  EXPECT_EQ(found.l1_load_joined_sectors, 0u) << "one block after the other";
}

TEST(CacheModel, PlainLoadsMayPassL1AndReadOnlyOnesStayInIt) {
  Sms plain(1);
  plain.request().caches.plain_loads_pass_l1 = true;
  EXPECT_EQ(plain.run_table().l2_read_sectors, kSectorsAsked);
  std::string read_only = kTable;
  read_only.replace(read_only.find("ld.global"), 9, "ld.global.nc");
  Sms kept(1, read_only);
  kept.request().caches.plain_loads_pass_l1 = true;
  EXPECT_EQ(kept.run_table().l2_read_sectors, 256u);
}

TEST(CacheModel, EverySmFetchesForItself) {
  Sms machine(4);  // block b runs on SM b % 4
  EXPECT_EQ(machine.run_table().l2_read_sectors, 64u + 128 + 192 + 256);
}

TEST(CacheModel, L1IsEmptyWhenAKernelBegins) {
  Sms machine(4);
  const std::uint64_t first = machine.run_table().l2_read_sectors;
  EXPECT_EQ(machine.run_table().l2_read_sectors, first);
}

TEST(CacheModel, WhatSharedMemoryTakesL1HasNot) {
  Sms machine(1);
  machine.request().dynamic_shared_bytes = 255 << 10;  // leaves eight lines; a row has two
  EXPECT_EQ(machine.run_table().l2_read_sectors, kSectorsAsked);
}

TEST(CacheModel, BlocksThatRunSideBySideMeetInASmallL1) {
  Sms machine(1);
  machine.request().caches.l1_bytes = 1024;
  machine.request().caches.resident_blocks_per_sm = kBlocks;
  const counters::Counters together = machine.run_table();
  EXPECT_EQ(together.l2_read_sectors, 256u) << "they read each row together";
  EXPECT_EQ(together.l1_load_joined_sectors, kSectorsAsked - 256) << "and wait for it together";
  machine.request().caches.resident_blocks_per_sm = 1;
  EXPECT_EQ(machine.run_table().l2_read_sectors, kSectorsAsked) << "one reads after the other";
}

/// Sectors that 32 warps of an SM fetch whose threads load eight words, each of a line of its own;
/// 128 KiB of lines, all words 0. In a chain the next address needs the last word.
std::uint64_t fetched_of_own_lines(bool chain, std::uint64_t l1_kib) {
  std::string ptx = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 lines) {
  .reg .b32 %r<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [lines];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 128;
  add.u64 %rd0, %rd0, %rd1;
)";
  for (int word = 0; word < 8; ++word) {
    ptx += "ld.global.u32 %r1, [%rd0+" + std::to_string(4 * word) + "];\n";
    if (chain) ptx += "cvt.u64.u32 %rd2, %r1; add.u64 %rd0, %rd0, %rd2;\n";
  }
  Sms machine(1, ptx + "ret; }");
  machine.table = machine.upload(std::vector<std::uint32_t>(std::size_t{1024} * 32));
  machine.request().caches.l1_bytes = l1_kib << 10;
  return machine.argument(machine.table)
      .run("k", {1, 1, 1}, {1024, 1, 1})
      .counters.totals.l2_read_sectors;
}

TEST(CacheModel, BetweenLoadsThatWaitForEachOtherAllWarpsLoad) {
  EXPECT_EQ(fetched_of_own_lines(true, 160), 1024u);
  EXPECT_EQ(fetched_of_own_lines(true, 96), 8 * 1024u);
}

TEST(CacheModel, BetweenLoadsOfABatchHalfOfTheWarpsLoad) {
  EXPECT_EQ(fetched_of_own_lines(false, 96), 1024u);
  EXPECT_EQ(fetched_of_own_lines(false, 48), 8 * 1024u);
}

class Workers : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(Workers, DoNotChangeWhatIsFound) {
  for (const std::uint32_t sms : {1u, 2u, 3u, 132u}) {
    counters::Counters alone, together;
    for (const std::uint32_t workers : {1u, GetParam()}) {
      Sms machine(sms);
      machine.request().limits.worker_threads = workers;
      machine.request().caches.l1_bytes = 4096;  // too small for some of it
      machine.request().caches.resident_blocks_per_sm = 2;
      (workers == 1 ? alone : together) = machine.run_table();
    }
    EXPECT_EQ(together.l1_load_hit_sectors, alone.l1_load_hit_sectors) << sms << " SMs";
    EXPECT_EQ(together.l2_read_sectors, alone.l2_read_sectors) << sms << " SMs";
    EXPECT_EQ(together.dram_read_bytes, alone.dram_read_bytes) << sms << " SMs";
  }
}
INSTANTIATE_TEST_SUITE_P(CacheModel, Workers, ::testing::Values(2u, 3u, 8u));

TEST(CacheModel, AFaultEndsTheLaunchForThoseWhoWaitForTheirTurn) {
  Sms machine(1);
  machine.request().limits.worker_threads = 8;
  machine.table = 8;  // nobody's address
  const LaunchReport report =
      machine.argument(machine.table).run("k", {kBlocks, 1, 1}, {kThreads, 1, 1});
  ASSERT_TRUE(report.fault);
  EXPECT_EQ(report.fault->kind, FaultKind::kIllegalAddress);
}

TEST(CacheModel, AShuffledOrderOfBlocksFinishes) {
  Sms machine(3);
  machine.request().limits.worker_threads = 4;
  machine.request().shuffle_seed = 5;
  const counters::Counters found = machine.run_table();
  EXPECT_EQ(found.l1_load_hit_sectors + found.l2_read_sectors, kSectorsAsked);
}

}  // namespace
}  // namespace membound::vgpu::exec
