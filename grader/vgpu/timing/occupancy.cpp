// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/occupancy.hpp"

#include <algorithm>
#include <cmath>

#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

constexpr std::uint32_t kWarpSize = 32;
constexpr std::uint32_t kParts = 4;  // each with a quarter of the SM's registers
constexpr std::uint32_t kUnlimited = 0xffffffff;

constexpr std::uint32_t round_up(std::uint32_t value, std::uint32_t unit) {
  return (value + unit - 1) / unit * unit;
}

std::uint32_t blocks_by_registers(const Machine& machine, std::uint32_t warps,
                                  std::uint32_t registers_per_thread) {
  if (registers_per_thread == 0) return kUnlimited;
  const std::uint32_t per_warp = round_up(registers_per_thread * kWarpSize, kRegisterUnit);
  if (per_warp * round_up(warps, kParts) > machine.registers_per_block) return 0;
  const std::uint32_t warps_per_part = machine.registers_per_sm / kParts / per_warp;
  return warps_per_part * kParts / warps;
}

/// What a block takes of its SM's shared memory.
std::uint32_t taken_bytes(const Machine& machine, std::uint32_t shared_bytes) {
  return round_up(shared_bytes + machine.shared_reserved_bytes, machine.shared_unit_bytes);
}

std::uint32_t blocks_by_shared(const Machine& machine, std::uint32_t shared_bytes) {
  if (shared_bytes > machine.shared_per_block_optin_bytes) return 0;
  const std::uint32_t taken = taken_bytes(machine, shared_bytes);
  return taken == 0 ? kUnlimited : machine.shared_per_sm_bytes / taken;
}

/// Since Volta shared memory is a part of L1, in one of these sizes (CUDA programming guide). Which
/// one, an H100 shows (clock_how_many_stay_h100.csv): the first in which all blocks fit that may be
/// there at once. To blocks of fewer than 32 warps it gives more, which changes no time of a kernel
/// that the clock is held against.
std::uint32_t shared_part_bytes(const Machine& machine, std::uint32_t wanted) {
  constexpr std::uint32_t kKiB = 1024;
  for (const std::uint32_t kib : {8u, 16u, 32u, 64u, 100u, 132u, 164u, 196u})
    if (kib * kKiB >= wanted) return std::min(kib * kKiB, machine.shared_per_sm_bytes);
  return machine.shared_per_sm_bytes;
}

// --- Residency -----------------------------------------------------------------------------------

constexpr double kSlotsPerClock = 4;

/// How far load batches go, as shares of them. A batch goes as far as its furthest load.
struct Distances {
  double beyond_l1 = 1;
  double beyond_l2 = 1;  ///< of those beyond L1
};

Distances distances(const Counters& c, double batches) {
  const double found =
      real(c.l1_load_hit_sectors + c.texture_hit_sectors) - real(c.l1_load_joined_sectors);
  const double missed =
      1 - std::min(1.0, ratio(found, real(c.global_load_sectors + c.texture_sectors)));
  const double loads = real(c.global_load_requests + c.atomic_requests + c.texture_instructions);
  Distances of;
  if (loads > 0) of.beyond_l1 = std::min(1.0, ratio(loads * missed, batches));
  // What joins a request that is under way waits as long as that one.
  const double from_l2 = real(c.l2_read_sectors) * kSectorBytes;
  const double from_dram = c.l2_waiting_sectors > 0 ? real(c.l2_waiting_sectors) * kSectorBytes
                                                    : real(c.dram_read_bytes);
  if (from_l2 > 0) of.beyond_l2 = std::min(1.0, from_dram / from_l2);
  return of;
}

/// A wait for global memory, on average.
double batch_ns(const Machine& m, const Distances& of) {
  const double far_ns = of.beyond_l2 * m.load_round_ns + (1 - of.beyond_l2) * m.l2_round_ns;
  return of.beyond_l1 * far_ns + (1 - of.beyond_l1) * m.cached_round_ns;
}

/// Rounds that are fences' waits for stores; a fence without one under way is none.
double fence_batches(const Counters& c, const LaunchWork& work, double batches) {
  if (work.instructions.empty()) return 0;
  const auto of = [&](program::Cost cost) {
    return real(work.instructions[static_cast<std::size_t>(cost)]);
  };
  const double fences = of(program::Cost::kFenceDevice) + of(program::Cost::kFenceSystem);
  const double loads = real(c.global_load_rounds);
  return std::min(std::max(0.0, batches - loads), fences);
}

/// Clocks that a block's slowest warp computes. Its warps start together, and each issues in its
/// turn: the last one is late by what the others took. Of a block that computes for long other
/// blocks fill the pipe meanwhile, and only so many clocks of it are waiting (panels.cu).
double computing_clocks(const Machine& m, const BlockWork& b) {
  const double chain = real(b.chain_clocks);
  const double in_turn = real(b.issue_slots) / kQuarters / kSlotsPerClock;
  return std::max(chain, std::min(in_turn, chain + m.issue_turn_clocks));
}

double pipe_work(const BlockWork& b, const Averages& mean) {
  return real(b.issue_slots) / kQuarters / kSlotsPerClock +
         real(b.all_shared_requests) * mean.shared_clocks;
}

/// How long a block stays when only its slowest warps count: their waits, and what its own warps
/// take of the SM where barriers keep phases apart.
BlockResidency residency_of(const Machine& m, const BlockWork& b, const Averages& mean,
                            double warps) {
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
  const double batches = b.load_batches > 0 ? real(b.load_batches) : 0.5;
  const double rows_ns = std::min(batches, 1 + real(b.barriers_after_loads)) * mean.rows_ns;
  const double loading_ns = batches * mean.batch_ns + rows_ns;
  const double waits_ns = starting_ns + loading_ns + computing_clocks(m, b) / m.clock_ghz + own_ns +
                          real(b.barriers_after_loads) * (m.barrier_ns + m.barrier_warp_ns * warps);
  return {waits_ns + arriving_ns, pipe_work(b, mean), arriving_ns, loading_ns,
          real(b.all_load_batches)};
}

/// The kind whose blocks take the most time together.
std::size_t main_kind(const LaunchWork& work, const std::vector<BlockResidency>& residencies) {
  std::vector<double> ns(work.kinds.size(), 0);
  for (const counters::BlockRun& run : work.runs)
    ns[run.kind] += real(run.blocks) * residencies[run.kind].ns;
  return static_cast<std::size_t>(std::max_element(ns.begin(), ns.end()) - ns.begin());
}

}  // namespace

std::string_view to_string(Limiter limiter) {
  switch (limiter) {
    case Limiter::kThreads:
      return "threads";
    case Limiter::kRegisters:
      return "registers";
    case Limiter::kSharedMemory:
      return "shared memory";
    case Limiter::kBlocks:
      return "blocks";
    case Limiter::kNothing:
      return "nothing fits";
  }
  return "nothing fits";
}

Occupancy occupancy_of(const Machine& machine, const BlockNeeds& needs) {
  Occupancy result;
  if (needs.threads == 0) return result;
  const std::uint32_t warps = round_up(needs.threads, kWarpSize) / kWarpSize;
  result.by_threads = max_warps_per_sm(machine) / warps;
  result.by_registers = blocks_by_registers(machine, warps, needs.registers_per_thread);
  result.by_shared = blocks_by_shared(machine, needs.shared_bytes);
  result.by_blocks = machine.max_blocks_per_sm;
  result.blocks =
      std::min({result.by_threads, result.by_registers, result.by_shared, result.by_blocks});
  result.share = static_cast<double>(result.blocks) * warps / max_warps_per_sm(machine);
  if (result.blocks == 0) return result;
  const std::uint32_t taken = taken_bytes(machine, needs.shared_bytes);
  result.held_by_shared = machine.compute_major < 7 || needs.shared_bytes == 0
                              ? result.by_shared
                              : shared_part_bytes(machine, taken * result.blocks) / taken;
  // Several may bind at once; the one a student can change most easily is named last.
  if (result.blocks == result.by_blocks) result.limiter = Limiter::kBlocks;
  if (result.blocks == result.by_threads) result.limiter = Limiter::kThreads;
  if (result.blocks == result.by_shared) result.limiter = Limiter::kSharedMemory;
  if (result.blocks == result.by_registers) result.limiter = Limiter::kRegisters;
  // Nothing is missing when every thread the SM could hold is there.
  if (result.share >= 1) result.limiter = Limiter::kThreads;
  return result;
}

Averages averages(const Machine& m, const Counters& c, const LaunchWork& work) {
  double batches = 0, shared = 0;
  for (const counters::BlockRun& run : work.runs) {
    batches += real(run.blocks * work.kinds[run.kind].all_load_batches);
    shared += real(run.blocks * work.kinds[run.kind].all_shared_requests);
  }
  const double fences = fence_batches(c, work, batches);
  const double loads = batches > 0 ? batches - fences : 0;
  const Distances of = distances(c, loads);
  const double all_ns = loads * batch_ns(m, of) + fences * m.fence_round_ns;
  Averages mean;
  mean.batch_ns = batches > 0 ? ratio(all_ns, batches) : batch_ns(m, of);
  mean.dram_batches = of.beyond_l1 * of.beyond_l2 * (batches > 0 ? ratio(loads, batches) : 1);
  mean.shared_clocks = ratio(shared_clocks(m, c), shared);
  const double rows = std::max(1.0, ratio(real(c.block_load_rows), real(c.block_load_turns)));
  mean.rows_ns = mean.dram_batches * m.load_rows_ns * std::log2(rows);
  return mean;
}

double beside_writes_ns(const Machine& m, const Counters& c, const Averages& mean, double dram_ns,
                        double ns) {
  const double written =
      std::max(0.0, real(c.dram_write_bytes) - m.undisturbed_l2_share * real(m.l2_bytes));
  const double share = ratio(written, real(c.dram_read_bytes) + written);
  const double busy = std::min(1.0, ratio(dram_ns, ns));
  return mean.dram_batches * m.beside_writes_ns * std::min(1.0, 2 * share) * busy;
}

std::vector<BlockResidency> residencies_of(const Machine& m, const LaunchWork& work,
                                           const Averages& mean, double warps) {
  std::vector<BlockResidency> residencies;
  for (const BlockWork& kind : work.kinds)
    residencies.push_back(residency_of(m, kind, mean, warps));
  return residencies;
}

std::uint32_t slots_per_sm(const Machine& m, const Occupancy& occupancy, const LaunchWork& work,
                           const std::vector<BlockResidency>& residencies, double warps) {
  const std::size_t kind = main_kind(work, residencies);
  const double early = real(work.kinds[kind].early_warps);
  const double staying = std::max(1.0, warps - early);
  const double most_warps = max_warps_per_sm(m);
  const double by_warps = 1 + std::floor((most_warps - warps) / staying);
  const double by_others = std::min(real(occupancy.held_by_shared), real(occupancy.by_blocks));
  const double computing = std::min({by_warps, by_others, real(occupancy.by_registers)});
  // While those that stay wait for loads, the others give their registers back as well, and a
  // multiprocessor holds blocks of more warps than it has room for (how_many_stay).
  const double freed = 1 + std::floor((real(occupancy.by_registers) - 1) * warps / staying);
  const double loading =
      early == 0
          ? computing
          : std::min({by_warps, freed, std::floor(m.held_blocks_of_warps * most_warps / warps)});
  const double share = ratio(residencies[kind].loading_ns, residencies[kind].ns);
  const double slots = computing + std::max(0.0, loading - computing) * share;
  return static_cast<std::uint32_t>(std::max(1.0, std::min(slots, by_others)));
}

}  // namespace membound::vgpu::timing
