// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/launch.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/critical_path/block_recorder.hpp"
#include "grader/vgpu/exec/launch/block_strata.hpp"
#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/exec/observe/access_observers.hpp"
#include "grader/vgpu/exec/observe/checker_list.hpp"
#include "grader/vgpu/exec/observe/summary.hpp"
#include "grader/vgpu/exec/state/launch_request.hpp"
#include "grader/vgpu/exec/state/observer.hpp"
#include "grader/vgpu/exec/traffic/cache_observer.hpp"

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
  LastBlockPattern last_block(state);
  state.last_block = &last_block;
  const StratumWork work = count_blocks(state, {block}, 1, &last_block);
  last_block.take_back();
  LaunchReport report = ended(state, work.counters.totals.warp_instructions);
  if (report.unsampled.empty()) report.unsampled = last_block.why_not();
  return report;
}

/// The blocks of a range that is a slice's.
std::vector<std::uint64_t> blocks_of_slice(const BlockRange& range, std::uint64_t all) {
  std::vector<std::uint64_t> blocks(std::min(range.count, all));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    blocks[i] = (range.first + i * range.slice_step) % all;
  return blocks;
}

/// Runs a range of a launch's blocks for the results that they leave, and nothing else: by ranges,
/// one after the other, a launch of any size leaves all of its results in bounded memory, and a
/// block alone shows which places are its own. `asked.only` is set. A launch whose blocks may learn
/// from each other runs only whole; the report says why it was not run.
LaunchReport run_range(const LaunchRequest& asked) {
  LaunchReport report;
  const std::uint64_t all = asked.grid.count();
  const std::uint64_t first = std::min(asked.only->first, all);
  const std::uint64_t count = std::min(asked.only->count, all - first);
  const bool is_whole = count == all;
  const bool talks = asked.cooperative || asked.kernel->communicates_between_blocks;
  // "The last one to arrive does the rest" shows what a block does alone, and is then taken back.
  const bool is_slice = asked.only->slice_step != 0;
  const bool arrives =
      talks && !asked.cooperative && asked.kernel->counts_arrivals && count == 1 && !is_slice;
  if ((!is_whole || is_slice) && talks && !arrives) {
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
  request.counts = is_slice || (!is_whole && arrives);
  Launch state;
  Workspace workspace(*request.memory);
  set_up(state, request, workspace);
  prepare(state, best_variant());
  if (!is_whole && arrives) return run_alone(state, first);
  if (is_slice) {
    const SliceFacts slice = run_slice(state, blocks_of_slice(*asked.only, all));
    report = ended(state, slice.executed_instructions);
    // Whether the kernel itself faults, its own blocks say.
    if (report.fault) report.unsampled = "a part of it cannot run alone";
    report.fault.reset();
    report.slice = slice;
    return report;
  }
  std::vector<std::uint64_t> blocks;
  if (!is_whole) {
    blocks.resize(count);
    std::iota(blocks.begin(), blocks.end(), first);
  }
  const std::uint64_t took = run_uncounted(state, std::move(blocks));
  return ended(state, took);
}

/// Of the blocks that the checkers hear, so many run where they stand for all: the ends, the middle
/// and pairs between them.
constexpr std::size_t kMostThatRun = 16;
/// After so many warp instructions no further pair of them is begun.
constexpr std::uint64_t kEnoughLookedAt = std::uint64_t{1} << 16;
/// With more a pair takes too long: with all checkers, at worst some tenths of a second.
constexpr std::uint64_t kMostLookedAt = std::uint64_t{1} << 21;

/// Runs the launch once, or, where it is sampled, those of its blocks that the checkers hear.
/// Nothing where it was taken back, to be run again by one worker.
std::optional<LaunchReport> run_once(const LaunchRequest& request) {
  LaunchReport report;
  Launch state;
  Workspace workspace(*request.memory);
  set_up(state, request, workspace);
  prepare(state, best_variant());
  if (request.sample) {
    state.chosen = state.sample.places();
    state.chosen.resize(std::min(state.chosen.size(), kMostThatRun));
    state.enough_instructions = kEnoughLookedAt;
  }
  BlockRecorder recorder(state.chosen.empty() ? request.grid.count() : state.chosen.size());
  state.recorder = &recorder;
  ObserverList observers, of_unsampled;
  std::optional<CheckerList> checkers;
  if (request.checks.of_kernels()) {
    observers.add(checkers.emplace(state));
    of_unsampled.add(checkers->deaf());
  }
  std::optional<CacheObserver> caches;
  if (request.caches.enabled) {
    observers.add(caches.emplace(state));
    of_unsampled.add(*caches);
  }
  std::optional<FootprintObserver> footprint;
  if (request.footprint != nullptr)
    observers.add(footprint.emplace(*request.footprint, request.checks.racecheck));
  std::optional<TraceObserver> tracer;
  if (request.tracing.listener != nullptr) {
    observers.add(tracer.emplace(state));
    of_unsampled.add(*tracer);
  }
  state.observer = observers.front();
  state.observer_of_unsampled = of_unsampled.front();
  const auto workers = run_grid(state);
  if (checkers && checkers->must_repeat()) {
    checkers->take_back();
    return std::nullopt;
  }
  if (checkers) report.checks = checkers->take_reports();
  report.fault = std::move(state.fault);
  if (caches) caches->settle();
  if (request.lists_opcodes) report.opcodes = executed_opcodes(state, workers);
  if (!request.counts) return report;
  report.counters = summarise(state, workers);
  recorder.add_to(report.counters.work);
  if (caches) caches->add_to(report.counters.totals);
  report.warp_instructions = report.counters.totals.warp_instructions;
  return report;
}

/// With checkers a sample is not scaled to the whole: nobody asks for its time, and which blocks
/// run is theirs to say (Checks::most_blocks).
std::optional<LaunchReport> look_at_sample(const LaunchRequest& asked) {
  LaunchReport none;
  none.unsampled = why_not_sampled(asked);
  if (!none.unsampled.empty()) return none;
  LaunchRequest request = asked;
  request.limits.warp_instructions = kMostLookedAt;
  std::optional<LaunchReport> report = run_once(request);
  if (!report || !report->fault || report->fault->kind != FaultKind::kStepLimit) return report;
  none.unsampled = kTooManyInstructions;
  none.warp_instructions = kMostLookedAt;
  return none;
}

std::optional<LaunchReport> run(const LaunchRequest& request) {
  if (request.only) return run_range(request);
  if (!request.sample || (request.sample->all && request.checks.of_kernels())) {
    LaunchRequest whole = request;
    whole.sample.reset();
    return run_once(whole);
  }
  return request.checks.of_kernels() ? look_at_sample(request) : run_sampled(request);
}

}  // namespace

LaunchReport launch(const LaunchRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<LaunchReport> report = run(request);
  if (!report) {
    LaunchRequest again = request;
    again.limits.worker_threads = 1;
    report = run(again);
  }
  MEMBOUND_CHECK(report);  // one worker's findings stand
  report->wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return *std::move(report);
}

}  // namespace membound::vgpu::exec
