// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "grader/vgpu/timing/block_scheduler.hpp"
#include "grader/vgpu/timing/mechanisms.hpp"
#include "grader/vgpu/timing/occupancy.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::timing {
namespace {

using counters::LaunchWork;

/// What the first loads of a launch wait beyond the others: addresses not yet translated, rows of
/// DRAM not yet open.
double first_bytes_ns(const Machine& machine, const counters::Counters& totals) {
  return totals.dram_read_bytes > 0 ? machine.first_bytes_ns : 0;
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

/// What blocks take that wait for one another in a row: what one hands over goes to L2, and the
/// next one's load gets it there.
double hand_over_ns(const Machine& machine, const counters::Counters& totals) {
  // Of blocks in a row that take their turns in a drawn order, the next j are all in order with a
  // probability of 1 / j!: a turn hands on as often as these sum up to.
  constexpr double kHandedOn = std::numbers::e - 1;
  return real(totals.block_wait_turns) * kHandedOn * 2 * machine.l2_round_ns;
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
  result.schedule = evenly ? spread_evenly(runs, result.residencies, machine.sm_count, slots)
                           : schedule(runs, result.residencies, machine.sm_count, slots,
                                      {machine.early_sms, machine.early_turn_blocks});
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
  if (machine.ignored_counts != 0) {
    const counters::LaunchCounters left = counts_left(machine, counters);
    Machine with_all = machine;
    with_all.ignored_counts = 0;
    return predict(with_all, left, shape, occupancy, removed);
  }
  Prediction result;
  const double blocks = real(shape.grid.count());
  result.occupancy = occupancy;
  const double slots = real(std::max(1u, result.occupancy.blocks)) * machine.sm_count;
  result.waves = std::ceil(blocks / slots);
  result.fixed_ns = machine.launch_ns + machine.ramp_ns;
  if (counters.work.runs.empty()) {  // no block ran to its end
    result.bounds = {{BoundKind::kLaunch, result.fixed_ns}};
    result.ns = result.fixed_ns;
    return result;
  }
  const LaunchWork& work = counters.work;
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
  const double hand_overs_ns = hand_over_ns(machine, counters.totals);
  const double last_wave = 1 / std::max(1.0, blocks / slots);
  const double beside_pipes_ns = latency_ns * (1 - arriving_share(work, residencies));
  const double waiting_ns = std::max(latency_ns, norm(beside_pipes_ns, throughput_ns, p)) +
                            first_bytes_ns(machine, counters.totals);
  const double begun_ns = norm(norm(waiting_ns, dispatch_ns, q), hand_overs_ns, q);
  const double busy_ns = norm(begun_ns, atomics_ns * (1 - last_wave), q) + atomics_ns * last_wave;
  bounds = terms;
  bounds.push_back({BoundKind::kDispatch, dispatch_ns});
  bounds.push_back({BoundKind::kAtomics, atomics_ns});
  bounds.push_back({BoundKind::kHandOvers, hand_overs_ns});
  bounds.push_back({BoundKind::kLatency, latency_ns * dispatched.occupied});
  bounds.push_back(
      {BoundKind::kIdleSms, std::max(idle_ns, latency_ns * (1 - dispatched.occupied))});
  bounds.push_back({BoundKind::kLaunch, result.fixed_ns});
  std::stable_sort(bounds.begin(), bounds.end(),
                   [](const Bound& a, const Bound& b) { return a.ns > b.ns; });
  result.binding = bounds.front().kind;
  result.ns = busy_ns + result.fixed_ns;
  return result;
}

}  // namespace membound::vgpu::timing
