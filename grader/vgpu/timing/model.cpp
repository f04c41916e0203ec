// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "grader/vgpu/timing/block_scheduler.hpp"
#include "grader/vgpu/timing/occupancy.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::BlockWork;
using counters::LaunchWork;

/// What the first loads of a launch wait beyond the others: addresses not yet translated, rows of
/// DRAM not yet open.
double first_bytes_ns(const Machine& machine, const counters::Counters& totals) {
  return totals.dram_read_bytes > 0 ? machine.first_bytes_ns : 0;
}

/// SMs that a grid's first blocks reach out of turn: the last eight of the 132 of an H200, where
/// every block wrote down its SM (gpu_truth/clock/where_blocks_go.cu); an H100's times of
/// uneven blocks agree. Of other GPUs nothing is known.
std::uint32_t early_sms(const Machine& machine) {
  return machine.compute_major == 9 && machine.sm_count == 132 ? 8 : 0;
}

double norm(double a, double b, double exponent) {
  const double most = std::max(a, b);
  if (most == 0) return 0;
  return most * std::pow(std::pow(a / most, exponent) + std::pow(b / most, exponent), 1 / exponent);
}

/// All terms of throughput together. L2 serves loads and stores in turn, mostly: these overlap less
/// than its time and that of other units does.
double norm_of(const Machine& machine, const std::vector<Bound>& terms) {
  const double p = machine.l2_exponent, q = machine.throughput_exponent;
  double of_l2 = 0, all = 0;
  for (const Bound& term : terms) {
    if (term.kind == BoundKind::kL2 || term.kind == BoundKind::kPartialStores)
      of_l2 += std::pow(term.ns, p);
    else
      all += std::pow(term.ns, q);
  }
  return std::pow(all + std::pow(of_l2, q / p), 1 / q);
}

/// Of the blocks' time, what their warps keep the barriers' pipe busy: it is no waiting beside it.
double arriving_share(const LaunchWork& work, const std::vector<BlockResidency>& residencies) {
  double arriving = 0, all = 0;
  for (const counters::BlockRun& run : work.runs) {
    arriving += real(run.blocks) * residencies[run.kind].arriving_ns;
    all += real(run.blocks) * residencies[run.kind].ns;
  }
  return ratio(arriving, all);
}

/// How long blocks are resident, and how the block scheduler dispatches them.
struct Dispatched {
  std::vector<BlockResidency> residencies;
  Schedule schedule;
};

Dispatched dispatch(const Workload& load, const Averages& mean, const Occupancy& occupancy,
                    double warps, bool evenly) {
  const Machine& machine = load.machine;
  const auto& runs = load.work.runs;
  Dispatched result{residencies_of(machine, load.work, mean, warps), {}};
  const std::uint32_t slots =
      slots_per_sm(machine, occupancy, load.work, result.residencies, warps);
  result.schedule =
      evenly ? spread_evenly(runs, result.residencies, machine.sm_count, slots)
             : schedule(runs, result.residencies, machine.sm_count, slots, early_sms(machine));
  return result;
}

/// The same, with what loads wait for a DRAM that others write to meanwhile.
Dispatched dispatch_beside_writes(const Workload& load, const Occupancy& occupancy, double warps,
                                  bool evenly) {
  Averages mean = averages(load.machine, load.totals, load.work);
  Dispatched calm = dispatch(load, mean, occupancy, warps, evenly);
  const double longer_ns =
      beside_writes_ns(load.machine, load.totals, mean, dram_ns(load), calm.schedule.ns);
  if (longer_ns == 0) return calm;
  mean.batch_ns += longer_ns;
  return dispatch(load, mean, occupancy, warps, evenly);
}

}  // namespace

std::string_view to_string(BoundKind kind) {
  static constexpr std::array kWords = {
#define MEMBOUND_BOUND(id, words, meaning) std::string_view(words),
#include "grader/vgpu/timing/bounds.def"
  };
  return kWords.at(static_cast<std::size_t>(kind));
}

LaunchWork uniform_work(const counters::Counters& c, const LaunchShape& shape) {
  const double blocks = real(shape.grid.count());
  const double warps = blocks * std::ceil(real(shape.block.count()) / 32);
  // Loads that are in flight together are one wait; atomics with a result and fetches are one each.
  const double beside_loads = real(c.atomic_requests + c.texture_requests);
  const double batches =
      c.global_load_rounds > 0
          ? real(c.global_load_rounds + c.local_load_rounds) + beside_loads
          : (real(c.global_load_requests + c.local_load_requests) + beside_loads) /
                std::max(1.0, shape.loads_in_flight);
  // A warp alone issues about every 2.5 clocks: four from one instruction to the next that needs
  // it, and every third or so needs none. Three moves in ten take a slot.
  constexpr double kClocksPerInstruction = 2.5, kMoveShare = 0.3;
  const auto whole = [](double value) { return static_cast<std::uint64_t>(std::llround(value)); };
  BlockWork each;
  each.load_batches = whole(ratio(batches, warps));
  each.chain_clocks = whole(ratio(real(c.warp_instructions), warps) * kClocksPerInstruction);
  const double barriers = ratio(real(c.block_barriers), warps);
  each.warp_chain_clocks = each.chain_clocks;
  each.warp_load_batches = each.load_batches;
  each.barriers_after_loads = whole(std::min(barriers, ratio(batches, warps)));
  each.other_barriers = whole(barriers) - each.barriers_after_loads;
  const double issued = real(c.warp_instructions) - (1 - kMoveShare) * real(c.move_instructions);
  each.issue_slots = whole(ratio(issued, blocks) * kQuarters);
  each.all_load_batches = whole(ratio(batches, blocks));
  each.all_shared_requests = whole(ratio(real(c.ptx_ideal_shared_wavefronts), blocks));
  return {{each}, {{0, shape.grid.count()}}, {}};
}

BlockNeeds block_needs(const LaunchShape& shape) {
  return {static_cast<std::uint32_t>(shape.block.count()), shape.registers_per_thread,
          shape.shared_bytes};
}

Prediction predict(const Machine& machine, const counters::LaunchCounters& counters,
                   const LaunchShape& shape, Removed removed) {
  return predict(machine, counters, shape, occupancy_of(machine, block_needs(shape)), removed);
}

Prediction predict(const Machine& machine, const counters::LaunchCounters& counters,
                   const LaunchShape& shape, const Occupancy& occupancy, Removed removed) {
  Prediction result;
  const double blocks = real(shape.grid.count());
  result.occupancy = occupancy;
  const double slots = real(std::max(1u, result.occupancy.blocks)) * machine.sm_count;
  result.waves = std::ceil(blocks / slots);
  const LaunchWork uniform =
      counters.work.runs.empty() ? uniform_work(counters.totals, shape) : LaunchWork{};
  const LaunchWork& work = counters.work.runs.empty() ? uniform : counters.work;
  const double warps = std::ceil(real(shape.block.count()) / 32);
  const Workload load{machine, counters.totals, work, shape.constant_bytes};
  const auto [residencies, dispatched] =
      dispatch_beside_writes(load, result.occupancy, warps, removed.uneven_blocks);

  const double p = machine.latency_exponent, q = machine.throughput_exponent;
  std::vector<Bound> terms = shared_terms(load);
  const double uneven = dispatched.busiest_work;
  double idle_ns = 0;
  std::vector<Bound>& bounds = result.bounds;
  for (Bound& term : sm_terms(load)) {
    idle_ns = std::max(idle_ns, term.ns * (uneven - 1));
    term.ns *= uneven;
    terms.push_back(term);
  }
  const double busiest_loads_ns = sm_load_ns(load) * dispatched.busiest_loads;
  idle_ns = std::max(idle_ns, busiest_loads_ns * (1 - 1 / dispatched.busiest_loads));
  const double throughput_ns = norm(norm_of(machine, terms), busiest_loads_ns, q);
  const double queue_ns =
      machine.queue_share *
      ratio(l2_sectors(machine, counters.totals) * kSectorBytes, machine.l2_gbs);
  const double latency_ns = dispatched.ns + queue_ns;
  // Blocks start one after the other while others wait and move bytes: that overlaps wholly.
  const double dispatch_ns = blocks * machine.dispatch_ns;
  // So do atomics whose results nobody waits for; what the last wave of blocks adds comes at the
  // end.
  const double atomics_ns = atomic_ns(load);
  const double last_wave = 1 / std::max(1.0, blocks / slots);
  const double beside_pipes_ns = latency_ns * (1 - arriving_share(work, residencies));
  const double waiting_ns = std::max(latency_ns, norm(beside_pipes_ns, throughput_ns, p)) +
                            first_bytes_ns(machine, counters.totals);
  const double busy_ns = norm(norm(waiting_ns, dispatch_ns, q), atomics_ns * (1 - last_wave), q) +
                         atomics_ns * last_wave;
  bounds = terms;
  bounds.push_back({BoundKind::kDispatch, dispatch_ns});
  bounds.push_back({BoundKind::kAtomics, atomics_ns});
  bounds.push_back({BoundKind::kLatency, latency_ns * dispatched.occupied});
  bounds.push_back(
      {BoundKind::kIdleSms, std::max(idle_ns, latency_ns * (1 - dispatched.occupied))});
  result.fixed_ns = machine.launch_ns + machine.ramp_ns;
  bounds.push_back({BoundKind::kLaunch, result.fixed_ns});
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.ns > b.ns; });
  result.binding = bounds.front().kind;
  result.ns = busy_ns + result.fixed_ns;
  return result;
}

}  // namespace membound::vgpu::timing
