// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/block_waits.hpp"

#include <gtest/gtest.h>

#include "grader/vgpu/timing/machine_files.hpp"
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
  return lives_of(machine, work, Averages{.round_ns = 0, .shared_clocks = 1}, kWarps)[0].ns;
}

TEST(BlockWaits, WarpsThatArriveInTurnAskSharedMemoryInTurn) {
  const double barriers = life_ns(40, 0);
  EXPECT_DOUBLE_EQ(life_ns(40, 40 * 32), barriers) << "a request a warp between two barriers";
  EXPECT_GT(life_ns(40, 40 * 32 * 8), barriers * 1.5) << "eight of them";
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
  c.shared_wavefronts = c.ideal_shared_wavefronts = 4000;
  const Machine machine = *find_machine("h200");
  EXPECT_DOUBLE_EQ(shared_clocks(machine, c), 4000);
  c.vector_shared_wavefronts = 3000;
  EXPECT_DOUBLE_EQ(shared_clocks(machine, c), 1000);
}

TEST(BlockWaits, AnSmHoldsMoreBlocksWhileTheOneWarpThatStayedWaits) {
  const Machine machine = *find_machine("h200");
  // how_many_stay of gpu_experiments/clock: 8 blocks of 32 warps, 16 of 16, 32 of 8 and less.
  const auto places = [&](std::uint32_t warps, std::uint64_t rounds, std::uint64_t chain) {
    counters::LaunchWork work;
    work.kinds.push_back({});
    work.kinds[0].load_rounds = rounds;
    work.kinds[0].chain_clocks = chain;
    work.kinds[0].early_warps = warps - 1;
    work.runs.push_back({0, 100'000});
    const auto lives =
        lives_of(machine, work, Averages{.round_ns = 354, .shared_clocks = 1}, warps);
    return places_per_sm(machine, occupancy_of(machine, {warps * 32, 16, 0}), work, lives, warps);
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
