// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "grader/vgpu/timing/machine.hpp"
#include "grader/vgpu/timing/occupancy.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::timing {
namespace {

constexpr double kWarps = 32;

double life_ns(std::uint64_t other_barriers, std::uint64_t shared_requests) {
  counters::LaunchWork work;
  work.kinds.push_back({});
  work.kinds[0].other_barriers = other_barriers;
  work.kinds[0].all_shared_requests = shared_requests;
  const Machine machine = *find_machine("h200");
  return residencies_of(machine, work, Averages{.batch_ns = 0, .shared_clocks = 1}, kWarps)[0].ns;
}

TEST(BlockWaits, WarpsThatArriveInTurnAskSharedMemoryInTurn) {
  const double barriers = life_ns(40, 0);
  EXPECT_DOUBLE_EQ(life_ns(40, 40 * 32), barriers) << "a request a warp between two barriers";
  EXPECT_GT(life_ns(40, 40 * 32 * 8), barriers * 1.5) << "eight of them";
}

/// What averages() says of a launch whose loads all wait for DRAM.
Averages loading(const Machine& machine, std::uint64_t rows, std::uint64_t turns) {
  counters::Counters c;
  c.global_load_requests = 1000;
  c.global_load_sectors = c.l2_read_sectors = c.l2_waiting_sectors = 4000;
  c.block_load_rows = rows;
  c.block_load_turns = turns;
  counters::LaunchWork work;
  work.kinds.push_back({});
  work.kinds[0].all_load_batches = 1000;
  work.runs.push_back({0, 1});
  return averages(machine, c, work);
}

TEST(BlockWaits, ABlockThatLoadsInManyPlacesWaitsForTheLast) {
  const Machine machine = *find_machine("h100");
  EXPECT_DOUBLE_EQ(loading(machine, 10, 10).rows_ns, 0);
  EXPECT_DOUBLE_EQ(loading(machine, 320, 10).rows_ns, 5 * machine.load_rows_ns);
  counters::LaunchWork work;
  work.kinds.push_back({});
  work.kinds[0].load_batches = 3;
  Averages mean{.batch_ns = 100, .shared_clocks = 1};
  const double calm = residencies_of(machine, work, mean, kWarps)[0].ns;
  mean.rows_ns = 50;
  EXPECT_DOUBLE_EQ(residencies_of(machine, work, mean, kWarps)[0].ns, calm + 50) << "at its end";
}

TEST(BlockWaits, LoadsWaitLongerForADramThatWrites) {
  const Machine machine = *find_machine("h100");
  const Averages mean = loading(machine, 1, 1);
  EXPECT_DOUBLE_EQ(mean.dram_batches, 1);
  counters::Counters c;
  c.dram_read_bytes = std::uint64_t{1} << 32;
  EXPECT_DOUBLE_EQ(beside_writes_ns(machine, c, mean, 1, 1), 0) << "nothing is written";
  c.dram_write_bytes = std::uint64_t{1} << 34;
  EXPECT_DOUBLE_EQ(beside_writes_ns(machine, c, mean, 1, 1), machine.beside_writes_ns);
  EXPECT_DOUBLE_EQ(beside_writes_ns(machine, c, mean, 1, 4), machine.beside_writes_ns / 4);
  c.dram_write_bytes = machine.l2_bytes / 4;
  EXPECT_DOUBLE_EQ(beside_writes_ns(machine, c, mean, 1, 1), 0) << "it stays in L2";
}

TEST(BlockWaits, WarpsThatStartTogetherIssueInTurn) {
  const Machine machine = *find_machine("h100");
  const auto life = [&](std::uint64_t chain_clocks, std::uint64_t clocks_of_issue) {
    counters::LaunchWork work;
    work.kinds.push_back({});
    work.kinds[0].chain_clocks = chain_clocks;
    work.kinds[0].issue_slots = clocks_of_issue * 16;  // quarters, four a clock
    return residencies_of(machine, work, Averages{}, kWarps)[0].ns * machine.clock_ghz;
  };
  EXPECT_DOUBLE_EQ(life(100, 50), life(100, 100)) << "hidden behind the slowest warp";
  EXPECT_NEAR(life(100, 250), life(100, 100) + 150, 1e-6);
  EXPECT_NEAR(life(100, 5000), life(100, 100) + 200, 1e-6) << "others fill the pipe";
}

TEST(BlockWaits, OneSmLoadsNoMoreThanItCan) {
  const Machine machine = *find_machine("h100");
  counters::Counters c;
  c.l2_read_sectors = std::uint64_t{1} << 25;  // 1 GiB
  const counters::LaunchWork work;
  const double all_ns = sm_load_ns({machine, c, work, 0}) * machine.sm_count;
  EXPECT_NEAR(all_ns, 1.0 * (1 << 30) / machine.sm_load_gbs, 1);
  const Machine unknown = *find_machine("v100");
  EXPECT_DOUBLE_EQ(sm_load_ns({unknown, c, work, 0}), 0);
}

TEST(BlockWaits, WiderRowsThatLieApartCostMore) {
  const Machine machine = *find_machine("h100");
  counters::Counters c;
  const counters::LaunchWork work;
  c.dram_read_bytes = std::uint64_t{1} << 30;
  const double calm = dram_ns({machine, c, work, 0});
  const auto extra = [&](std::uint64_t row_bytes) {
    c.dram_read_runs = c.dram_read_bytes / row_bytes;
    return (dram_ns({machine, c, work, 0}) - calm) / static_cast<double>(c.dram_read_runs);
  };
  EXPECT_NEAR(extra(128), 1 / machine.dram_read_gruns, 1e-6);
  EXPECT_NEAR(extra(512), 2 / machine.dram_read_gruns, 1e-6);
}

TEST(BlockWaits, LocalStoresPassL2ByTheLine) {
  counters::Counters c;
  const counters::LaunchWork work;
  const Machine machine = *find_machine("h200");
  const auto stores_ns = [&] {
    for (const Bound& bound : shared_terms({machine, c, work, 0}))
      if (bound.kind == BoundKind::kPartialStores) return bound.ns;
    return 0.0;
  };
  c.global_store_lines = 1 << 20;
  const double global = stores_ns();
  c.global_store_lines = 0;
  c.local_store_requests = 1 << 20;
  c.local_store_sectors = 4 << 20;
  EXPECT_DOUBLE_EQ(stores_ns(), global);
}

TEST(BlockWaits, WhatVectorsSaveIsNoPass) {
  counters::Counters c;
  c.ptx_shared_wavefronts = c.ptx_ideal_shared_wavefronts = 4000;
  const Machine machine = *find_machine("h200");
  EXPECT_DOUBLE_EQ(shared_clocks(machine, c), 4000);
  c.vector_shared_wavefronts = 3000;
  EXPECT_DOUBLE_EQ(shared_clocks(machine, c), 1000);
}

TEST(BlockWaits, AnSmHoldsMoreBlocksWhileTheOneWarpThatStayedWaits) {
  const Machine machine = *find_machine("h200");
  // how_many_stay of gpu_truth/clock: 8 blocks of 32 warps, 16 of 16, 32 of 8 and less.
  const auto places = [&](std::uint32_t warps, std::uint64_t rounds, std::uint64_t chain) {
    counters::LaunchWork work;
    work.kinds.push_back({});
    work.kinds[0].load_batches = rounds;
    work.kinds[0].chain_clocks = chain;
    work.kinds[0].early_warps = warps - 1;
    work.runs.push_back({0, 100'000});
    const auto lives =
        residencies_of(machine, work, Averages{.batch_ns = 354, .shared_clocks = 1}, warps);
    return slots_per_sm(machine, occupancy_of(machine, {warps * 32, 16, 0}), work, lives, warps);
  };
  EXPECT_EQ(places(32, 100'000, 0), 7u);
  EXPECT_EQ(places(16, 100'000, 0), 15u);
  EXPECT_EQ(places(4, 100'000, 0), 32u);
  EXPECT_EQ(places(32, 1, 1'000'000), 4u) << "computing: as many as have registers";
}

TEST(BlockWaits, StoresAreTakenTogetherSinceVolta) {
  counters::Counters c;
  c.partial_store_sectors = c.global_store_sectors = 1 << 24;
  const auto stores_ns = [&](const char* name) {
    const counters::LaunchWork work;
    const Machine machine = *find_machine(name);
    for (const Bound& bound : shared_terms({machine, c, work, 0}))
      if (bound.kind == BoundKind::kPartialStores) return bound.ns;
    return 0.0;
  };
  const double h200 = stores_ns("h200"), k80 = stores_ns("k80");
  c.filled_store_sectors = c.partial_store_sectors;
  EXPECT_LT(stores_ns("h200"), h200 / 10);
  EXPECT_DOUBLE_EQ(stores_ns("k80"), k80);
}

}  // namespace

}  // namespace membound::vgpu::timing
