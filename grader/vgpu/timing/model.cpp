// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/model.hpp"

#include <algorithm>
#include <cmath>

#include "grader/vgpu/timing/schedule.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

constexpr double kSectorBytes = 32;
constexpr double kQuarters = 4;  // BlockWork counts issue slots in quarters

double real(std::uint64_t value) { return static_cast<double>(value); }

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Everything the terms share.
struct Setting {
  const Machine& machine;
  const Counters& totals;
  const LaunchWork& work;
  double warps_per_block;
  std::uint64_t constant_bytes;
  Schedule schedule;
};

/// Nanoseconds for `work` done by all SMs at `per_clock` each, were it spread evenly.
double over_all_sms(const Setting& s, double work, double per_clock) {
  return ratio(work, s.machine.sm_count * s.machine.clock_ghz * per_clock);
}

double pipe_ns(const Setting& s, double warp_instructions, double lanes) {
  return over_all_sms(s, warp_instructions, lanes / 32);
}

/// Clocks that L1 is busy for global and local memory: a wavefront a request or 128 bytes each in
/// its data stage, lines in its tag stage; the slower stage sets the pace. How unlucky strides
/// queue is not modelled.
double global_clocks(const Machine& m, const Counters& c) {
  const double requests = real(c.global_load_requests + c.global_store_requests +
                               c.atomic_requests + c.reduction_requests);
  const double local = real(c.local_load_sectors + c.local_store_sectors) / 4;
  const double data = std::max(requests, real(c.theoretical_global_sectors) / 4);
  const double textures = real(c.texture_sectors + c.surface_sectors) / 4;
  return std::max((data + local + textures) / m.l1_wavefronts_per_clock,
                  real(c.global_tag_requests) / m.l1_lines_per_clock);
}

double shared_clocks(const Machine& machine, const Counters& c) {
  const double ideal = real(c.ideal_shared_wavefronts);
  const double extra = std::max(0.0, real(c.shared_wavefronts) - ideal);
  return ideal / machine.l1_wavefronts_per_clock + extra * machine.shared_conflict_clocks;
}

/// Sectors that come from L2, once for every warp that waits for them: what several ask for
/// together is fetched once, but charged to each. Without the cache model's figures every sector
/// counts.
double l2_read_sectors(const Counters& c) {
  return real(c.l2_read_sectors ? c.l2_read_sectors + c.l1_load_joined_sectors
                                : c.global_load_sectors + c.local_load_sectors + c.texture_sectors);
}

double l2_sectors(const Counters& c) {
  const double writes = real(c.l2_write_sectors ? c.l2_write_sectors
                                                : c.global_store_sectors + c.local_store_sectors);
  return l2_read_sectors(c) + writes + real(c.atomic_sectors + c.reduction_sectors);
}

/// Lines that loads ask L2 for.
double load_lines(const Counters& c) {
  const double lines =
      real(c.global_tag_requests - std::min(c.global_tag_requests, c.global_store_lines));
  return lines * (1 - ratio(real(c.l1_load_hit_sectors), real(c.global_load_sectors)));
}

/// Store sectors that are not filled by their instruction: as counted, else from bytes and sectors:
/// half-filled and less counts fully; a few
/// cut-off ends among full sectors (a shifted row: 3 full, 2 cut) count as what they are.
double partial_sectors(const Counters& c) {
  const double local = real(c.partial_local_store_sectors);  // L1 passes them on as well
  if (c.partial_store_sectors > 0) return local + real(c.partial_store_sectors);
  const double sectors = real(c.global_store_sectors);
  const double filled = ratio(real(c.global_store_bytes), sectors * kSectorBytes);
  return local + sectors * std::clamp((1 - filled) * 2, 0.0, 1.0);
}

/// What the launch waits for: the last bytes written stay in L2.
double dram_bytes(const Machine& machine, const Counters& c) {
  if (c.dram_read_bytes + c.dram_write_bytes == 0) return l2_sectors(c) * kSectorBytes;
  const double written = std::max(0.0, real(c.dram_write_bytes) - machine.dirty_l2_bytes);
  return real(c.dram_read_bytes) + written;
}

/// Atomics take turns on the word that most of them want, and in the part of L2 that most of them
/// go to; the others share a rate.
double atomic_ns(const Setting& s) {
  const Counters& c = s.totals;
  const Machine& m = s.machine;
  const double requests = real(c.atomic_requests + c.reduction_requests);
  if (requests == 0) return 0;
  const double operations = real(c.atomic_sectors + c.reduction_sectors);
  const double floats = ratio(real(c.float_atomic_lanes), real(c.atomic_lanes));
  const double turn_ns = floats * m.atomic_same_address_ns + (1 - floats) * m.integer_atomic_ns;
  return std::max({real(c.hottest_atomic_address_count) * turn_ns,
                   real(c.busiest_atomic_piece_sectors) * m.atomic_piece_ns,
                   operations / m.atomic_gsectors});
}

double shared_atomic_ns(const Setting& s) {
  const Counters& c = s.totals;
  const double passes = real(c.shared_atomic_wavefronts);
  const double contended = passes - std::min(passes, real(c.shared_atomic_requests));
  // Integers are added where they lie; the rest loads, computes and swaps until nobody was faster.
  const double each = c.shared_atomic_loops > 0 ? s.machine.shared_atomic_lane_clocks
                                                : s.machine.shared_conflict_clocks;
  return over_all_sms(s, contended * each + (passes - contended), 1);
}

/// A wait for global memory, on average: by how far its loads must go. A round goes as far as its
/// furthest load.
double round_ns(const Machine& m, const Counters& c, double rounds) {
  const double missed = 1 - ratio(real(c.l1_load_hit_sectors - c.l1_load_joined_sectors),
                                  real(c.global_load_sectors));
  const double loads = real(c.global_load_requests + c.atomic_requests + c.texture_requests);
  const double beyond_l1 = loads == 0 ? 1 : std::min(1.0, ratio(loads * missed, rounds));
  const double from_l2 = l2_read_sectors(c) * kSectorBytes;
  const double from_dram = real(c.dram_read_bytes);
  const double beyond_l2 =
      from_l2 > 0 && c.l2_read_sectors ? std::min(1.0, from_dram / from_l2) : 1;
  const double far_ns = beyond_l2 * m.load_round_ns + (1 - beyond_l2) * m.l2_round_ns;
  return beyond_l1 * far_ns + (1 - beyond_l1) * m.cached_round_ns;
}

/// What the launch's requests to memory cost on average.
struct Averages {
  double round_ns = 0;
  double shared_clocks = 0;  ///< a request to shared memory
};

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

/// How long a block stays when only its slowest warps count: their waits, and what its own warps
/// take of the SM where barriers keep phases apart.
double life_ns(const Machine& m, const BlockWork& b, const Averages& mean, double warps) {
  const double barriers = real(b.barriers_after_loads + b.other_barriers);
  const double own_clocks = barriers > 0 ? real(b.all_shared_requests) * mean.shared_clocks : 0;
  const double starting_ns = m.block_turnover_ns + m.warp_turnover_ns * warps;
  // The last wait of a kernel without loads is its stores' way out.
  const double rounds = b.load_rounds > 0 ? real(b.load_rounds) : 0.5;
  return starting_ns + rounds * mean.round_ns + (real(b.chain_clocks) + own_clocks) / m.clock_ghz +
         real(b.barriers_after_loads) * (m.barrier_ns + m.barrier_warp_ns * warps) +
         real(b.other_barriers) * m.shared_round_ns;
}

/// Blocks an SM holds. Warps that left make room for those of another block, but registers and
/// shared memory are a block's until its last warp leaves.
std::uint32_t places_of(const Machine& m, const Occupancy& occupancy, const BlockWork& b,
                        double warps) {
  const double staying = warps - real(b.early_warps);
  const double most_warps = max_warps_per_sm(m);
  const double by_warps = 1 + std::floor((most_warps - warps) / std::max(1.0, staying));
  const double places = std::min({by_warps, real(occupancy.by_registers), real(occupancy.by_shared),
                                  real(occupancy.by_blocks)});
  return static_cast<std::uint32_t>(std::max(1.0, places));
}

/// The kind whose blocks take the most time together.
const BlockWork& main_kind(const LaunchWork& work, const std::vector<BlockLife>& lives) {
  std::vector<double> ns(work.kinds.size(), 0);
  for (const counters::BlockRun& run : work.runs)
    ns[run.kind] += real(run.blocks) * lives[run.kind].ns;
  return work.kinds[static_cast<std::size_t>(std::max_element(ns.begin(), ns.end()) - ns.begin())];
}

double pipe_work(const BlockWork& b, const Averages& mean) {
  return real(b.issue_slots) / kQuarters / 4 + real(b.all_shared_requests) * mean.shared_clocks;
}

double issue_slots(const Setting& s) {
  double quarters = 0;
  for (const counters::BlockRun& run : s.work.runs)
    quarters += real(run.blocks * s.work.kinds[run.kind].issue_slots);
  return quarters / kQuarters;
}

/// Clocks of an SM that a pipe is busy.
double pipe_clocks(const Setting& s, program::Pipe pipe) {
  double slots = 0;
  for (std::size_t i = 0; i < s.work.instructions.size(); ++i)
    if (s.machine.costs.of[i].pipe == pipe)
      slots += real(s.work.instructions[i]) * s.machine.costs.of[i].slots;
  if (pipe == program::Pipe::kCollective) {  // match.any goes through the values one by one
    const auto match = static_cast<std::size_t>(program::Cost::kMatch);
    const std::uint64_t matches = s.work.instructions.empty() ? 0 : s.work.instructions[match];
    slots += real(s.totals.match_values - std::min(s.totals.match_values, matches)) *
             s.machine.costs.of[match].slots;
  }
  return slots / 4;
}

/// A further word that lanes want of constant memory: as likely at hand as the share of the
/// program's constants that its cache holds.
double constant_clocks(const Setting& s) {
  const Machine& m = s.machine;
  const double near =
      std::min(1.0, ratio(m.constant_cache_bytes, std::max(1.0, real(s.constant_bytes))));
  return near * m.constant_word_clocks + (1 - near) * m.constant_far_word_clocks;
}

/// Warp instructions that only the integer pipe executes; sums and products go to the float pipes
/// as well.
double integer_pipe(const Setting& s) {
  if (s.work.instructions.empty()) return real(s.totals.integer_instructions);
  return real(s.work.instructions[static_cast<std::size_t>(program::Cost::kAlu)]);
}

/// Terms that keep pipes of SMs busy.
std::vector<Bound> sm_terms(const Setting& s) {
  const Counters& c = s.totals;
  const Machine& m = s.machine;
  const double wavefronts = shared_clocks(m, c) + global_clocks(m, c);
  const double constants =
      (real(c.constant_load_words) - real(c.constant_load_requests)) * constant_clocks(s);
  return {
      {BoundKind::kIssue, over_all_sms(s, issue_slots(s), m.schedulers)},
      {BoundKind::kFloat32,
       pipe_ns(s, real(c.float32_instructions + c.half_instructions), m.fp32_lanes)},
      {BoundKind::kInteger, pipe_ns(s, integer_pipe(s), m.integer_lanes)},
      {BoundKind::kFloat64, pipe_ns(s, real(c.float64_instructions), m.fp64_lanes)},
      {BoundKind::kSpecial,
       over_all_sms(s, pipe_clocks(s, program::Pipe::kSpecial), m.special_lanes / 16)},
      {BoundKind::kCollectives, over_all_sms(s, pipe_clocks(s, program::Pipe::kCollective), 1)},
      {BoundKind::kBarriers, over_all_sms(s, pipe_clocks(s, program::Pipe::kBarrier), 1)},
      {BoundKind::kL1, over_all_sms(s, wavefronts, 1)},
      {BoundKind::kConstants, over_all_sms(s, constants, 1)},
      {BoundKind::kSharedAtomics, shared_atomic_ns(s)},
  };
}

/// Terms of what all SMs share.
std::vector<Bound> shared_terms(const Setting& s) {
  const Counters& c = s.totals;
  const Machine& m = s.machine;
  return {
      {BoundKind::kL2, std::max(ratio(l2_sectors(c) * kSectorBytes, m.l2_gbs),
                                ratio(load_lines(c), m.load_glines))},
      {BoundKind::kPartialStores, std::max(ratio(partial_sectors(c), m.partial_store_gsectors),
                                           ratio(real(c.global_store_lines), m.store_glines))},
      {BoundKind::kDram, ratio(dram_bytes(m, c), m.dram_reached_gbs)},
  };
}

/// What the first loads of a launch wait beyond the others: addresses not yet translated, rows of
/// DRAM not yet open.
double first_bytes_ns(const Setting& s) {
  return s.totals.dram_read_bytes > 0 ? s.machine.first_bytes_ns : 0;
}

double norm(double a, double b, double exponent) {
  const double most = std::max(a, b);
  if (most == 0) return 0;
  return most * std::pow(std::pow(a / most, exponent) + std::pow(b / most, exponent), 1 / exponent);
}

}  // namespace

std::string_view to_string(BoundKind kind) {
  switch (kind) {
    case BoundKind::kIssue:
      return "issue slots";
    case BoundKind::kFloat32:
      return "single-precision arithmetic";
    case BoundKind::kInteger:
      return "integer arithmetic";
    case BoundKind::kFloat64:
      return "double-precision arithmetic";
    case BoundKind::kSpecial:
      return "special functions";
    case BoundKind::kL1:
      return "shared memory and L1 wavefronts";
    case BoundKind::kCollectives:
      return "shuffles, matches and fences";
    case BoundKind::kBarriers:
      return "barriers";
    case BoundKind::kConstants:
      return "constant addresses";
    case BoundKind::kL2:
      return "L2 sectors";
    case BoundKind::kPartialStores:
      return "partly filled store sectors";
    case BoundKind::kDram:
      return "DRAM bandwidth";
    case BoundKind::kAtomics:
      return "atomics on global memory";
    case BoundKind::kSharedAtomics:
      return "atomics on shared memory";
    case BoundKind::kDispatch:
      return "starting blocks";
    case BoundKind::kIdleSms:
      return "idle multiprocessors";
    case BoundKind::kLatency:
      return "latency";
    case BoundKind::kLaunch:
      return "launch overhead";
  }
  return "launch overhead";
}

LaunchWork uniform_work(const counters::Counters& c, const LaunchShape& shape) {
  const double blocks = real(shape.grid.count());
  const double warps = blocks * std::ceil(real(shape.block.count()) / 32);
  // Loads that are in flight together are one wait; atomics with a result and fetches are one each.
  const double beside_loads = real(c.atomic_requests + c.texture_requests);
  const double rounds =
      c.global_load_rounds > 0
          ? real(c.global_load_rounds + c.local_load_rounds) + beside_loads
          : (real(c.global_load_requests + c.local_load_requests) + beside_loads) /
                std::max(1.0, shape.loads_in_flight);
  // A warp alone issues about every 2.5 clocks: four from one instruction to the next that needs
  // it, and every third or so needs none. Three moves in ten take a slot.
  constexpr double kClocksPerInstruction = 2.5, kMoveShare = 0.3;
  const auto whole = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
  BlockWork each;
  each.load_rounds = whole(ratio(rounds, warps));
  each.chain_clocks = whole(ratio(real(c.warp_instructions), warps) * kClocksPerInstruction);
  const double barriers = ratio(real(c.block_barriers), warps);
  each.warp_chain_clocks = each.chain_clocks;
  each.warp_load_rounds = each.load_rounds;
  each.barriers_after_loads = whole(std::min(barriers, ratio(rounds, warps)));
  each.other_barriers = whole(barriers) - each.barriers_after_loads;
  const double issued = real(c.warp_instructions) - (1 - kMoveShare) * real(c.move_instructions);
  each.issue_slots = whole(ratio(issued, blocks) * kQuarters);
  each.all_load_rounds = whole(ratio(rounds, blocks));
  each.all_shared_requests = whole(ratio(real(c.ideal_shared_wavefronts), blocks));
  return {{each}, {{0, shape.grid.count()}}, {}};
}

Prediction predict(const Machine& machine, const counters::LaunchCounters& counters,
                   const LaunchShape& shape, Removed removed) {
  Prediction result;
  const double blocks = real(shape.grid.count());
  result.occupancy = occupancy_of(machine, {static_cast<std::uint32_t>(shape.block.count()),
                                            shape.registers_per_thread, shape.shared_bytes});
  const double places = real(std::max(1u, result.occupancy.blocks)) * machine.sm_count;
  result.waves = std::ceil(blocks / places);
  const LaunchWork uniform =
      counters.work.runs.empty() ? uniform_work(counters.totals, shape) : LaunchWork{};
  const LaunchWork& work = counters.work.runs.empty() ? uniform : counters.work;
  const double warps = std::ceil(real(shape.block.count()) / 32);
  const Averages mean = averages(machine, counters.totals, work);
  std::vector<BlockLife> lives;
  for (const BlockWork& kind : work.kinds)
    lives.push_back({life_ns(machine, kind, mean, warps), pipe_work(kind, mean)});
  const std::uint32_t places_per_sm =
      places_of(machine, result.occupancy, main_kind(work, lives), warps);
  const Setting s{machine,
                  counters.totals,
                  work,
                  warps,
                  shape.constant_bytes,
                  removed.uneven_blocks
                      ? spread_evenly(work.runs, lives, machine.sm_count, places_per_sm)
                      : schedule(work.runs, lives, machine.sm_count, places_per_sm)};

  const double p = machine.latency_exponent, q = machine.throughput_exponent;
  std::vector<Bound> terms = shared_terms(s);
  const double uneven = s.schedule.busiest_work;
  double idle_ns = 0;
  std::vector<Bound>& bounds = result.bounds;
  double sum_q = 0;
  for (Bound& term : sm_terms(s)) {
    idle_ns = std::max(idle_ns, term.ns * (uneven - 1));
    term.ns *= uneven;
    terms.push_back(term);
  }
  for (const Bound& term : terms) sum_q += std::pow(term.ns, q);
  const double throughput_ns = std::pow(sum_q, 1 / q);
  const double queue_ns =
      machine.queue_share * ratio(l2_sectors(counters.totals) * kSectorBytes, machine.l2_gbs);
  const double latency_ns = s.schedule.ns + queue_ns;
  // Blocks start one after the other while others wait and move bytes: that overlaps wholly.
  const double dispatch_ns = blocks * machine.dispatch_ns;
  // So do atomics whose results nobody waits for; what the last wave of blocks adds comes at the
  // end.
  const double atomics_ns = atomic_ns(s);
  const double last_wave = 1 / std::max(1.0, blocks / places);
  const double waiting_ns = norm(latency_ns, throughput_ns, p) + first_bytes_ns(s);
  const double busy_ns = norm(norm(waiting_ns, dispatch_ns, q), atomics_ns * (1 - last_wave), q) +
                         atomics_ns * last_wave;
  bounds = terms;
  bounds.push_back({BoundKind::kDispatch, dispatch_ns});
  bounds.push_back({BoundKind::kAtomics, atomics_ns});
  bounds.push_back({BoundKind::kLatency, latency_ns * s.schedule.occupied});
  bounds.push_back(
      {BoundKind::kIdleSms, std::max(idle_ns, latency_ns * (1 - s.schedule.occupied))});
  result.fixed_ns = machine.launch_ns + machine.ramp_ns;
  bounds.push_back({BoundKind::kLaunch, result.fixed_ns});
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.ns > b.ns; });
  result.binding = bounds.front().kind;
  result.ns = busy_ns + result.fixed_ns;
  return result;
}

}  // namespace membound::vgpu::timing
