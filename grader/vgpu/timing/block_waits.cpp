// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/block_waits.hpp"

#include <algorithm>
#include <cmath>

#include "grader/vgpu/timing/quantities.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::timing {
namespace {

constexpr double kSlotsPerClock = 4;

using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

/// A wait for global memory, on average: by how far its loads must go. A round goes as far as its
/// furthest load.
double round_ns(const Machine& m, const Counters& c, double rounds) {
  const double missed = 1 - ratio(real(c.l1_load_hit_sectors - c.l1_load_joined_sectors),
                                  real(c.global_load_sectors));
  const double loads = real(c.global_load_requests + c.atomic_requests + c.texture_requests);
  const double beyond_l1 = loads == 0 ? 1 : std::min(1.0, ratio(loads * missed, rounds));
  // What joins a request that is under way waits as long as that one.
  const double from_l2 = real(c.l2_read_sectors) * kSectorBytes;
  const double from_dram = c.l2_waiting_sectors > 0 ? real(c.l2_waiting_sectors) * kSectorBytes
                                                    : real(c.dram_read_bytes);
  const double beyond_l2 = from_l2 > 0 ? std::min(1.0, from_dram / from_l2) : 1;
  const double far_ns = beyond_l2 * m.load_round_ns + (1 - beyond_l2) * m.l2_round_ns;
  return beyond_l1 * far_ns + (1 - beyond_l1) * m.cached_round_ns;
}

/// Rounds that are fences' waits for stores; a fence without one under way is none.
double fence_rounds(const Counters& c, const LaunchWork& work, double rounds) {
  if (work.instructions.empty()) return 0;
  const auto of = [&](program::Cost cost) {
    return real(work.instructions[static_cast<std::size_t>(cost)]);
  };
  const double fences = of(program::Cost::kFenceDevice) + of(program::Cost::kFenceSystem);
  const double loads = real(c.global_load_rounds + c.texture_requests);
  return std::min(std::max(0.0, rounds - loads), fences);
}

double pipe_work(const BlockWork& b, const Averages& mean) {
  return real(b.issue_slots) / kQuarters / kSlotsPerClock +
         real(b.all_shared_requests) * mean.shared_clocks;
}

/// How long a block stays when only its slowest warps count: their waits, and what its own warps
/// take of the SM where barriers keep phases apart.
BlockLife life_of(const Machine& m, const BlockWork& b, const Averages& mean, double warps) {
  const double barriers = real(b.barriers_after_loads + b.other_barriers);
  const double own_clocks = barriers > 0 ? real(b.all_shared_requests) * mean.shared_clocks : 0;
  // At any other barrier its warps arrive one after the other (bar_sync 2 to 32 of
  // clock_instructions_h200.csv).
  const double each_ns = m.costs[program::Cost::kBarrier].slots / kSlotsPerClock / m.clock_ghz;
  const double arriving_ns =
      real(b.other_barriers) * std::max(m.shared_round_ns, (warps - 1) * each_ns);
  // Warps that arrive in turn ask shared memory in turn.
  const double own_ns = std::max(0.0, own_clocks / m.clock_ghz - arriving_ns);
  const double starting_ns = m.block_turnover_ns + m.warp_turnover_ns * warps;
  // The last wait of a kernel without loads is its stores' way out.
  const double rounds = b.load_rounds > 0 ? real(b.load_rounds) : 0.5;
  const double loading_ns = rounds * mean.round_ns;
  const double waits_ns = starting_ns + loading_ns + real(b.chain_clocks) / m.clock_ghz + own_ns +
                          real(b.barriers_after_loads) * (m.barrier_ns + m.barrier_warp_ns * warps);
  return {waits_ns + arriving_ns, pipe_work(b, mean), arriving_ns, loading_ns};
}

/// The kind whose blocks take the most time together.
std::size_t main_kind(const LaunchWork& work, const std::vector<BlockLife>& lives) {
  std::vector<double> ns(work.kinds.size(), 0);
  for (const counters::BlockRun& run : work.runs)
    ns[run.kind] += real(run.blocks) * lives[run.kind].ns;
  return static_cast<std::size_t>(std::max_element(ns.begin(), ns.end()) - ns.begin());
}

}  // namespace

Averages averages(const Machine& m, const Counters& c, const LaunchWork& work) {
  double rounds = 0, shared = 0;
  for (const counters::BlockRun& run : work.runs) {
    rounds += real(run.blocks * work.kinds[run.kind].all_load_rounds);
    shared += real(run.blocks * work.kinds[run.kind].all_shared_requests);
  }
  const double fences = fence_rounds(c, work, rounds);
  const double all_ns =
      (rounds - fences) * round_ns(m, c, rounds - fences) + fences * m.fence_round_ns;
  return {rounds > 0 ? ratio(all_ns, rounds) : round_ns(m, c, 0),
          ratio(shared_clocks(m, c), shared)};
}

std::vector<BlockLife> lives_of(const Machine& m, const LaunchWork& work, const Averages& mean,
                                double warps) {
  std::vector<BlockLife> lives;
  for (const BlockWork& kind : work.kinds) lives.push_back(life_of(m, kind, mean, warps));
  return lives;
}

std::uint32_t places_per_sm(const Machine& m, const Occupancy& occupancy, const LaunchWork& work,
                            const std::vector<BlockLife>& lives, double warps) {
  const std::size_t kind = main_kind(work, lives);
  const double early = real(work.kinds[kind].early_warps);
  const double staying = std::max(1.0, warps - early);
  const double most_warps = max_warps_per_sm(m);
  const double by_warps = 1 + std::floor((most_warps - warps) / staying);
  const double by_others = std::min(real(occupancy.by_shared), real(occupancy.by_blocks));
  const double computing = std::min({by_warps, by_others, real(occupancy.by_registers)});
  // While those that stay wait for loads, the others give their registers back as well, and a
  // multiprocessor holds blocks of four times as many warps as it has room for (how_many_stay).
  constexpr double kHeldBlocksOfWarps = 4;
  const double freed = 1 + std::floor((real(occupancy.by_registers) - 1) * warps / staying);
  const double loading = early == 0
                             ? computing
                             : std::min({by_warps, by_others, freed,
                                         std::floor(kHeldBlocksOfWarps * most_warps / warps)});
  const double share = ratio(lives[kind].loading_ns, lives[kind].ns);
  const double places = computing + std::max(0.0, loading - computing) * share;
  return static_cast<std::uint32_t>(std::max(1.0, places));
}

}  // namespace membound::vgpu::timing
