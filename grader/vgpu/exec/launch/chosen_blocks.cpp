// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/chosen_blocks.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "grader/vgpu/exec/launch/grid.hpp"
#include "grader/vgpu/exec/observe/block_recorder.hpp"
#include "grader/vgpu/exec/observe/cache_observer.hpp"
#include "grader/vgpu/exec/observe/observer_list.hpp"
#include "grader/vgpu/exec/observe/summary.hpp"

namespace membound::vgpu::exec {
namespace {

std::vector<std::unique_ptr<Worker>> run_chosen(Launch& state, BlockRecorder& recorder,
                                                Observer* observer) {
  state.instructions = 0;
  state.recorder = &recorder;
  state.observer = state.observer_of_unsampled = observer;
  return run_grid(state);
}

}  // namespace

StratumWork count_blocks(Launch& state, std::vector<std::uint64_t> blocks, std::uint32_t groups,
                         Arrivals* arrivals) {
  StratumWork work;
  BlockRecorder recorder(blocks.size());
  state.chosen = std::move(blocks);
  state.cached_sms = groups;
  state.observers_with_notes = 0;
  ObserverList observers;
  std::optional<CacheObserver> caches;
  if (state.request->caches.enabled) observers.add(caches.emplace(state));
  if (arrivals != nullptr) observers.add(*arrivals);
  const auto workers = run_chosen(state, recorder, observers.front());
  if (caches) caches->settle();
  work.counters = summarise(state, workers);
  if (caches) {
    caches->add_to(work.counters.totals);
    work.l1_kept = caches->l1_kept();
    work.reads = caches->reads()->rows();
    work.writes = caches->writes()->rows();
  }
  for (const auto& worker : workers) {
    if (worker->unequal_warps) work.l1_kept.reset();
    work.long_warps += worker->long_warps;
    work.left_warps += worker->left_warps;
    work.hottest.add(worker->hottest);
    work.busiest.add(worker->busiest_pieces);
    work.busiest_sectors.add(worker->busiest_sectors);
  }
  counters::LaunchWork kinds;
  recorder.add_to(kinds);
  for (const counters::BlockRun& run : kinds.runs)
    work.of.insert(work.of.end(), run.blocks, kinds.kinds[run.kind]);
  return work;
}

std::uint64_t run_uncounted(Launch& state, std::vector<std::uint64_t> blocks) {
  BlockRecorder recorder(0);
  state.chosen = std::move(blocks);
  state.counts = false;
  const auto workers = run_chosen(state, recorder, nullptr);
  return summarise(state, workers).totals.warp_instructions;
}

}  // namespace membound::vgpu::exec
