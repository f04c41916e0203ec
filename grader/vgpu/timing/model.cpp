// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/model.hpp"

#include <algorithm>
#include <cmath>

namespace membound::vgpu::timing {
namespace {

using counters::Counters;

constexpr double kSectorBytes = 32;
// Most PTX moves vanish when ptxas allocates registers: 59 PTX instructions of a reduction are 53
// on the machine, 27 of a transpose 24 (simulated against an H200's profile).
constexpr double kMoveShare = 0.3;
// One warp alone: four clocks from an instruction to the next that needs it (Volta and later), and
// every third or so needs none.
constexpr double kClocksPerInstruction = 2.5;

double real(std::uint64_t value) { return static_cast<double>(value); }

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

/// Everything the bounds share.
struct Setting {
  const Machine& machine;
  const Counters& totals;
  const LaunchShape& shape;
  const Occupancy& occupancy;
  double blocks;
  double waves;
  /// The SM with the most blocks works this much longer than the average one.
  double imbalance;
};

/// Nanoseconds for `work` done by all SMs at `per_clock` each.
double over_all_sms(const Setting& s, double work, double per_clock) {
  const double per_ns = s.machine.sm_count * s.machine.clock_ghz * per_clock;
  return ratio(work, per_ns) * s.imbalance;
}

double pipe_ns(const Setting& s, double warp_instructions, double lanes) {
  return over_all_sms(s, warp_instructions, lanes / 32);
}

/// Wavefronts through L1: at least one a request, 128 bytes each in its data stage, four lines each
/// in its tag stage; the slower stage sets the pace. Four lines a pass is what an H200 counts for
/// strides of 1, 2 and 4 lines (h200_probe.csv); how unlucky strides queue is not modelled.
double global_wavefronts(const Counters& c) {
  const double requests = real(c.global_load_requests + c.global_store_requests +
                               c.atomic_requests + c.reduction_requests);
  const double local = real(c.local_load_sectors + c.local_store_sectors) / 4;
  return std::max(
             {requests, real(c.theoretical_global_sectors) / 4, real(c.global_tag_requests) / 4}) +
         local + real(c.texture_sectors + c.surface_sectors) / 4;
}

double shared_clocks(const Setting& s) {
  const double ideal = real(s.totals.ideal_shared_wavefronts);
  const double extra = std::max(0.0, real(s.totals.shared_wavefronts) - ideal);
  return ideal / s.machine.l1_wavefronts_per_clock + extra * s.machine.shared_conflict_clocks;
}

/// Sectors that come from L2, once for every warp that waits for them: what several ask for
/// together is fetched once, but charged to each. The rate below was fitted so, and lab 06 on an
/// H200 bears it out (docs/timing_model.md). Without the cache model's figures every sector counts.
double l2_sectors(const Counters& c) {
  const double reads =
      real(c.l2_read_sectors ? c.l2_read_sectors + c.l1_load_joined_sectors
                             : c.global_load_sectors + c.local_load_sectors + c.texture_sectors);
  const double writes = real(c.l2_write_sectors ? c.l2_write_sectors
                                                : c.global_store_sectors + c.local_store_sectors);
  return reads + writes + real(c.atomic_sectors + c.reduction_sectors);
}

/// Store sectors that are not filled by their instruction: as counted, else from bytes and sectors:
/// half-filled and less counts fully; a few
/// cut-off ends among full sectors (a shifted row: 3 full, 2 cut) count as what they are.
double partial_sectors(const Counters& c) {
  if (c.partial_store_sectors > 0) return real(c.partial_store_sectors);
  const double sectors = real(c.global_store_sectors);
  const double filled = ratio(real(c.global_store_bytes), sectors * kSectorBytes);
  return sectors * std::clamp((1 - filled) * 2, 0.0, 1.0);
}

double dram_bytes(const Counters& c) {
  if (c.dram_read_bytes + c.dram_write_bytes > 0)
    return real(c.dram_read_bytes + c.dram_write_bytes);
  return l2_sectors(c) * kSectorBytes;
}

/// Atomics that wait for each other: those on the word that most of them want.
double atomic_ns(const Setting& s) {
  const Counters& c = s.totals;
  const double requests = real(c.atomic_requests + c.reduction_requests);
  if (requests == 0) return 0;
  const double operations = real(c.atomic_sectors + c.reduction_sectors);
  return std::max(real(c.hottest_atomic_address_count) * s.machine.atomic_same_address_ns,
                  operations / s.machine.atomic_gsectors);
}

double shared_atomic_ns(const Setting& s) {
  const double passes = real(s.totals.shared_atomic_wavefronts);
  const double contended = passes - std::min(passes, real(s.totals.shared_atomic_requests));
  return over_all_sms(s, contended * s.machine.shared_atomic_lane_clocks + (passes - contended), 1);
}

/// How often warps wait for memory, over the whole launch: as counted, where it was; else every
/// load that is not in flight beside another one.
double load_rounds(const Setting& s) {
  const Counters& c = s.totals;
  const double beside_loads = real(c.atomic_requests + c.texture_requests);
  if (c.global_load_rounds > 0) return real(c.global_load_rounds) + beside_loads;
  return (real(c.global_load_requests + c.local_load_requests) + beside_loads) /
         std::max(1.0, s.shape.loads_in_flight);
}

/// How long one block stays when its warps only wait: for loads, at barriers, and (where barriers
/// keep its phases apart) for its own shared-memory wavefronts.
double block_residence_ns(const Setting& s) {
  const Counters& c = s.totals;
  const double warps_per_block = std::ceil(real(s.shape.block.count()) / 32);
  const double warps = s.blocks * warps_per_block;
  const double rounds = ratio(load_rounds(s), warps);
  // L1 keeps what resident threads have in local memory. What several warps ask for together is
  // fetched once, but all of them wait for it.
  const double found =
      ratio(real(c.l1_load_hit_sectors - c.l1_load_joined_sectors), real(c.global_load_sectors));
  const double hits = ratio(real(c.global_load_requests) * found + real(c.local_load_requests),
                            real(c.global_load_requests + c.local_load_requests));
  const double round_ns = (1 - hits) * s.machine.load_round_ns + hits * s.machine.cached_round_ns;
  const double barriers = ratio(real(c.block_barriers), warps);
  const double slow_barriers = std::min(barriers, rounds);  // those that wait for memory as well
  const double phases_ns =
      barriers > 0 ? ratio(shared_clocks(s), s.blocks) / s.machine.clock_ghz : 0;
  const double issue_ns =
      ratio(real(c.warp_instructions), warps) * kClocksPerInstruction / s.machine.clock_ghz;
  // The last wait of a kernel without loads is its stores' way out.
  const double first_ns = rounds > 0 ? 0 : s.machine.load_round_ns / 2;
  return first_ns + issue_ns + rounds * round_ns +
         slow_barriers * (s.machine.barrier_ns + s.machine.barrier_warp_ns * warps_per_block) +
         (barriers - slow_barriers) * s.machine.shared_round_ns + phases_ns +
         s.machine.block_turnover_ns;
}

std::vector<Bound> bounds_of(const Setting& s) {
  const Counters& c = s.totals;
  const Machine& m = s.machine;
  const double l2_ns = ratio(l2_sectors(c) * kSectorBytes, m.l2_gbs);
  const double issued = real(c.warp_instructions) - (1 - kMoveShare) * real(c.move_instructions);
  return {
      {BoundKind::kIssue, over_all_sms(s, issued, m.schedulers)},
      {BoundKind::kFloat32,
       pipe_ns(s, real(c.float32_instructions + c.half_instructions), m.fp32_lanes)},
      {BoundKind::kInteger, pipe_ns(s, real(c.integer_instructions), m.integer_lanes)},
      {BoundKind::kFloat64, pipe_ns(s, real(c.float64_instructions), m.fp64_lanes)},
      {BoundKind::kSpecial,
       pipe_ns(s, real(c.special_function_instructions + c.convert_instructions), m.special_lanes)},
      {BoundKind::kL1,
       over_all_sms(s, shared_clocks(s) + global_wavefronts(c) / m.l1_wavefronts_per_clock, 1)},
      {BoundKind::kL2, l2_ns},
      {BoundKind::kPartialStores, ratio(partial_sectors(c), m.partial_store_gsectors)},
      {BoundKind::kDram, ratio(dram_bytes(c), m.dram_reached_gbs)},
      {BoundKind::kAtomics, atomic_ns(s)},
      {BoundKind::kSharedAtomics, shared_atomic_ns(s)},
      // A load waits for its latency and then for the sectors before it on the way from L2.
      {BoundKind::kLatency, s.waves * block_residence_ns(s) + l2_ns},
  };
}

/// A last, partly filled wave costs about half a wave more than its share.
double waves_of(double blocks, double slots) {
  if (slots == 0) return 0;
  const double filled = blocks / slots;
  if (filled <= 1) return 1;
  return filled + (std::ceil(filled) - filled) / 2;
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
    case BoundKind::kLatency:
      return "latency";
    case BoundKind::kLaunch:
      return "launch overhead";
  }
  return "launch overhead";
}

Prediction predict(const Machine& machine, const counters::LaunchCounters& counters,
                   const LaunchShape& shape) {
  Prediction result;
  const double blocks = real(shape.grid.count());
  result.occupancy = occupancy_of(machine, {static_cast<std::uint32_t>(shape.block.count()),
                                            shape.registers_per_thread, shape.shared_bytes});
  const double slots = real(std::max(1u, result.occupancy.blocks)) * machine.sm_count;
  result.waves = waves_of(blocks, slots);
  const double busiest = std::ceil(blocks / machine.sm_count);
  const Setting setting{machine,
                        counters.totals,
                        shape,
                        result.occupancy,
                        blocks,
                        result.waves,
                        ratio(busiest * machine.sm_count, blocks)};
  result.bounds = bounds_of(setting);
  double squares = 0;
  for (const Bound& bound : result.bounds) squares += bound.ns * bound.ns;
  result.fixed_ns = machine.launch_ns + machine.ramp_ns;
  result.bounds.push_back({BoundKind::kLaunch, result.fixed_ns});
  std::stable_sort(result.bounds.begin(), result.bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.ns > b.ns; });
  result.binding = result.bounds.front().kind;
  result.ns = std::sqrt(squares) + result.fixed_ns;
  return result;
}

}  // namespace membound::vgpu::timing
