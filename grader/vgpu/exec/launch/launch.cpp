// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/launch.hpp"

#include <chrono>

#include "grader/base/check.hpp"
#include "grader/vgpu/exec/launch/grid.hpp"
#include "grader/vgpu/exec/launch/prepare.hpp"
#include "grader/vgpu/exec/observe/block_recorder.hpp"
#include "grader/vgpu/exec/observe/cache_observer.hpp"
#include "grader/vgpu/exec/observe/checker_list.hpp"
#include "grader/vgpu/exec/observe/observer_list.hpp"
#include "grader/vgpu/exec/observe/summary.hpp"
#include "grader/vgpu/exec/observe/trace_observer.hpp"
#include "grader/vgpu/exec/schedule/scheduler.hpp"

namespace membound::vgpu::exec {
namespace {

/// Device memory a launch needs for itself; given back at its end.
class Workspace {
 public:
  explicit Workspace(memory::AddressSpace& space) : space_(space) {}
  ~Workspace() {
    for (const std::uint64_t address : addresses_) space_.free(address);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  std::uint64_t take(std::uint64_t bytes, const char* name) {
    const auto address =
        space_.allocate(bytes, 256, {memory::AllocationKind::kConstant, name, true});
    if (!address) return 0;
    space_.fill(*address, std::byte{0}, bytes);
    addresses_.push_back(*address);
    return *address;
  }

 private:
  memory::AddressSpace& space_;
  std::vector<std::uint64_t> addresses_;
};

void set_up(Launch& launch, const LaunchRequest& request, Workspace& workspace) {
  launch.request = &request;
  launch.kernel = request.kernel;
  launch.stats_count = 1;  // 0: keeps none
  launch.warps_per_block = static_cast<std::uint32_t>((request.block.count() + 31) / 32);
  launch.shared_bytes = request.kernel->static_shared_bytes;
  if (request.dynamic_shared_bytes != 0)
    launch.shared_bytes = (launch.shared_bytes + 15) / 16 * 16 + request.dynamic_shared_bytes;
  launch.shared_window = request.memory->shared_window();
  launch.local_window = request.memory->local_window();
  launch.precise = request.checks.memcheck;
  launch.sample = {request.grid.count(), request.checks.most_blocks};
  // What a block wrote that nobody heard counts as written, here and from now on.
  if (launch.sample.leaves_out_some()) request.memory->track_initialised(false);
  launch.scheduler = request.scheduling == Scheduling::kLockstep ? &lockstep_scheduler()
                                                                 : &independent_scheduler();
  launch.defer_reductions = request.kernel->orders_float_reductions && !request.cooperative;
  if (request.kernel->takes_parameter_addresses) {
    launch.parameter_address = workspace.take(request.parameters.size() + 16, "kernel parameters");
    request.memory->copy_in(launch.parameter_address, request.parameters.data(),
                            request.parameters.size());
  }
  if (request.kernel->uses_grid_sync)
    launch.grid_barrier_address = workspace.take(256, "grid barrier");
}

/// Runs the launch once. Nothing where it was taken back, to be run again by one worker.
std::optional<LaunchReport> run_once(const LaunchRequest& request) {
  LaunchReport report;
  Launch state;
  Workspace workspace(*request.memory);
  set_up(state, request, workspace);
  prepare(state, best_variant());
  BlockRecorder recorder(request.grid.count());
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
  report.counters = summarise(state, workers);
  recorder.add_to(report.counters.work);
  if (request.lists_opcodes) report.opcodes = executed_opcodes(state, workers);
  if (caches) caches->add_to(report.counters.totals);
  report.warp_instructions = report.counters.totals.warp_instructions;
  return report;
}

}  // namespace

LaunchReport launch(const LaunchRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<LaunchReport> report = run_once(request);
  if (!report) {
    LaunchRequest again = request;
    again.limits.worker_threads = 1;
    report = run_once(again);
  }
  MEMBOUND_CHECK(report);  // one worker's findings stand
  report->wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return *std::move(report);
}

}  // namespace membound::vgpu::exec
