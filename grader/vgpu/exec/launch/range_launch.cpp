// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/range_launch.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "grader/vgpu/exec/launch/chosen_blocks.hpp"
#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/exec/launch/sampled_launch.hpp"
#include "grader/vgpu/exec/launch/set_up.hpp"

namespace membound::vgpu::exec {
namespace {

/// What came of it, told of its instructions and its fault.
LaunchReport ended(Launch& state, std::uint64_t warp_instructions) {
  LaunchReport report;
  report.warp_instructions = warp_instructions;
  if (state.fault && state.fault->kind == FaultKind::kStepLimit)
    report.unsampled = kTooManyInstructions;
  else
    report.fault = std::move(state.fault);
  return report;
}

/// One block of those that count themselves as they arrive. What it left outside inputs and outputs
/// is as before afterwards.
LaunchReport run_alone(Launch& state, std::uint64_t block) {
  Arrivals arrivals(state);
  state.arrivals = &arrivals;
  const StratumWork work = count_blocks(state, {block}, 1, &arrivals);
  arrivals.take_back();
  LaunchReport report = ended(state, work.counters.totals.warp_instructions);
  if (report.unsampled.empty()) report.unsampled = arrivals.why_not();
  return report;
}

}  // namespace

LaunchReport run_range(const LaunchRequest& asked) {
  LaunchReport report;
  const std::uint64_t all = asked.grid.count();
  const std::uint64_t first = std::min(asked.only->first, all);
  const std::uint64_t count = std::min(asked.only->count, all - first);
  const bool is_whole = count == all;
  const bool talks = asked.cooperative || asked.kernel->communicates_between_blocks;
  // "The last one to arrive does the rest" shows what a block does alone, and is then taken back.
  const bool arrives = talks && !asked.cooperative && asked.kernel->counts_arrivals && count == 1;
  if (!is_whole && talks && !arrives) {
    report.unsampled = "its blocks may learn from each other";
    return report;
  }
  if (count == 0) return report;
  LaunchRequest request = asked;
  request.sample.reset();
  request.shuffle_seed.reset();
  request.checks = {};
  request.caches.enabled = false;
  request.limits.warp_instructions = request.only->most_instructions;
  request.limits.cpu_ns_per_instruction = 0;
  request.counts = !is_whole && arrives;
  Launch state;
  Workspace workspace(*request.memory);
  set_up(state, request, workspace);
  prepare(state, best_variant());
  if (!is_whole && arrives) return run_alone(state, first);
  std::vector<std::uint64_t> blocks;
  if (!is_whole) {
    blocks.resize(count);
    std::iota(blocks.begin(), blocks.end(), first);
  }
  const std::uint64_t took = run_uncounted(state, std::move(blocks));
  return ended(state, took);
}

}  // namespace membound::vgpu::exec
