// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/launch.hpp"

#include <algorithm>
#include <chrono>

#include "grader/base/result.hpp"
#include "grader/vgpu/exec/launch/grid.hpp"
#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/exec/launch/range_launch.hpp"
#include "grader/vgpu/exec/launch/sampled_launch.hpp"
#include "grader/vgpu/exec/launch/set_up.hpp"
#include "grader/vgpu/exec/observe/block_recorder.hpp"
#include "grader/vgpu/exec/observe/cache_observer.hpp"
#include "grader/vgpu/exec/observe/checker_list.hpp"
#include "grader/vgpu/exec/observe/footprint_observer.hpp"
#include "grader/vgpu/exec/observe/observer_list.hpp"
#include "grader/vgpu/exec/observe/summary.hpp"
#include "grader/vgpu/exec/observe/trace_observer.hpp"

namespace membound::vgpu::exec {
namespace {

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
