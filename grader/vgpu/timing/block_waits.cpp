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

/// How far rounds of loads go, as shares of them. A round goes as far as its furthest load.
struct Distances {
  double beyond_l1 = 1;
  double beyond_l2 = 1;  ///< of those beyond L1
};

Distances distances(const Counters& c, double rounds) {
  const double missed = 1 - ratio(real(c.l1_load_hit_sectors - c.l1_load_joined_sectors),
                                  real(c.global_load_sectors));
  const double loads = real(c.global_load_requests + c.atomic_requests + c.texture_requests);
  Distances of;
  if (loads > 0) of.beyond_l1 = std::min(1.0, ratio(loads * missed, rounds));
  // What joins a request that is under way waits as long as that one.
  const double from_l2 = real(c.l2_read_sectors) * kSectorBytes;
  const double from_dram = c.l2_waiting_sectors > 0 ? real(c.l2_waiting_sectors) * kSectorBytes
                                                    : real(c.dram_read_bytes);
  if (from_l2 > 0) of.beyond_l2 = std::min(1.0, from_dram / from_l2);
  return of;
}

/// A wait for global memory, on average.
double round_ns(const Machine& m, const Distances& of) {
  const double far_ns = of.beyond_l2 * m.load_round_ns + (1 - of.beyond_l2) * m.l2_round_ns;
  return of.beyond_l1 * far_ns + (1 - of.beyond_l1) * m.cached_round_ns;
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

/// Clocks that a block's slowest warp computes. Its warps start together, and each issues in its
/// turn: the last one is late by what the others took. Of a block that computes for long other
/// blocks fill the pipe meanwhile, and only so many clocks of it are waiting (panels.cu).
double computing_clocks(const BlockWork& b) {
  constexpr double kMostInTurn = 200;
  const double chain = real(b.chain_clocks);
  const double in_turn = real(b.issue_slots) / kQuarters / kSlotsPerClock;
  return std::max(chain, std::min(in_turn, chain + kMostInTurn));
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
  const double rows_ns = std::min(rounds, 1 + real(b.barriers_after_loads)) * mean.rows_ns;
  const double loading_ns = rounds * mean.round_ns + rows_ns;
  const double waits_ns = starting_ns + loading_ns + computing_clocks(b) / m.clock_ghz + own_ns +
                          real(b.barriers_after_loads) * (m.barrier_ns + m.barrier_warp_ns * warps);
  return {waits_ns + arriving_ns, pipe_work(b, mean), arriving_ns, loading_ns,
          real(b.all_load_rounds)};
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
  const double loads = rounds > 0 ? rounds - fences : 0;
  const Distances of = distances(c, loads);
  const double all_ns = loads * round_ns(m, of) + fences * m.fence_round_ns;
  Averages mean;
  mean.round_ns = rounds > 0 ? ratio(all_ns, rounds) : round_ns(m, of);
  mean.dram_rounds = of.beyond_l1 * of.beyond_l2 * (rounds > 0 ? ratio(loads, rounds) : 1);
  mean.shared_clocks = ratio(shared_clocks(m, c), shared);
  const double rows = std::max(1.0, ratio(real(c.block_load_rows), real(c.block_load_turns)));
  mean.rows_ns = mean.dram_rounds * m.load_rows_ns * std::log2(rows);
  return mean;
}

double beside_writes_ns(const Machine& m, const Counters& c, const Averages& mean, double dram_ns,
                        double ns) {
  // So much of L2 is written when nobody waits: a choice; copies of 16 MiB wait for no writes
  // (block_loads.cu).
  constexpr double kWrittenInPeace = 0.31;
  const double written =
      std::max(0.0, real(c.dram_write_bytes) - kWrittenInPeace * real(m.l2_bytes));
  const double share = ratio(written, real(c.dram_read_bytes) + written);
  const double busy = std::min(1.0, ratio(dram_ns, ns));
  return mean.dram_rounds * m.beside_writes_ns * std::min(1.0, 2 * share) * busy;
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
  const double by_others = std::min(real(occupancy.held_by_shared), real(occupancy.by_blocks));
  const double computing = std::min({by_warps, by_others, real(occupancy.by_registers)});
  // While those that stay wait for loads, the others give their registers back as well, and a
  // multiprocessor holds blocks of four times as many warps as it has room for (how_many_stay).
  constexpr double kHeldBlocksOfWarps = 4;
  const double freed = 1 + std::floor((real(occupancy.by_registers) - 1) * warps / staying);
  const double loading =
      early == 0 ? computing
                 : std::min({by_warps, freed, std::floor(kHeldBlocksOfWarps * most_warps / warps)});
  const double share = ratio(lives[kind].loading_ns, lives[kind].ns);
  const double places = computing + std::max(0.0, loading - computing) * share;
  return static_cast<std::uint32_t>(std::max(1.0, std::min(places, by_others)));
}

}  // namespace membound::vgpu::timing
