// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/advice/advice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <optional>

#include "grader/vgpu/advice/what_if.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::advice {

using counters::BlockRun;
using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

double Observed::slots() const {
  return static_cast<double>(std::max(1u, prediction.occupancy.blocks)) * machine.sm_count;
}

double Observed::filled() const {
  return prediction.occupancy.share * std::min(1.0, blocks() / slots());
}

double Observed::bound_ns(BoundKind kind) const {
  for (const Bound& bound : prediction.bounds)
    if (bound.kind == kind) return bound.ns;
  return 0;
}

double Observed::busiest_ns() const {
  double most = 0;
  for (const Bound& bound : prediction.bounds)
    if (bound.kind != BoundKind::kLatency && bound.kind != BoundKind::kIdleSms &&
        bound.kind != BoundKind::kLaunch)
      most = std::max(most, bound.ns);
  return most;
}

ClockedLaunch Observed::copy() const { return {{counters.totals, {}, counters.work}, shape, {}}; }

std::string short_number(double value) {
  char text[32];
  if (value >= 100 || std::abs(value - std::round(value)) < 0.05)
    std::snprintf(text, sizeof text, "%.0f", value);
  else
    std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

const counters::LineCounters* line_with_most(const counters::LaunchCounters& counters,
                                             std::uint64_t counters::Counters::*counter) {
  const auto most = std::max_element(
      counters.lines.begin(), counters.lines.end(),
      [&](const auto& a, const auto& b) { return a.counters.*counter < b.counters.*counter; });
  return most == counters.lines.end() || most->counters.*counter == 0 ? nullptr : &*most;
}

std::uint64_t share_of(std::uint64_t value, double share) {
  return static_cast<std::uint64_t>(std::round(real(value) * share));
}

std::uint64_t times(std::uint64_t value, double factor) {
  if (value == 0) return 0;
  return static_cast<std::uint64_t>(std::max(1.0, std::round(real(value) * factor)));
}

void scale_grid(ClockedLaunch& launch, double factor) {
  const double blocks = std::max(1.0, std::round(real(launch.shape.grid.count()) * factor));
  launch.shape.grid = {static_cast<std::uint32_t>(std::min(blocks, 2147483647.0)), 1, 1};
  for (BlockRun& run : launch.counters.work.runs) run.blocks = times(run.blocks, factor);
}

void scale_path(BlockWork& block, double factor) {
  for (std::uint64_t* part :
       {&block.chain_clocks, &block.load_batches, &block.shared_requests,
        &block.barriers_after_loads, &block.other_barriers, &block.warp_chain_clocks,
        &block.warp_load_batches, &block.warp_shared_requests})
    *part = times(*part, factor);
}

void scale_sums(BlockWork& block, double factor) {
  for (std::uint64_t* part :
       {&block.issue_slots, &block.all_load_batches, &block.all_shared_requests})
    *part = times(*part, factor);
}

void split_blocks(ClockedLaunch& launch, double parts) {
  scale_grid(launch, parts);
  for (BlockWork& block : launch.counters.work.kinds) {
    scale_path(block, 1 / parts);
    scale_sums(block, 1 / parts);
  }
}

void join_blocks(ClockedLaunch& launch, double count) {
  scale_grid(launch, 1 / count);
  launch.shape.block = {static_cast<std::uint32_t>(real(launch.shape.block.count()) * count), 1, 1};
  launch.shape.shared_bytes = static_cast<std::uint32_t>(launch.shape.shared_bytes * count);
  for (BlockWork& block : launch.counters.work.kinds) {
    scale_sums(block, count);
    block.early_warps = times(block.early_warps, count);
  }
}

void widen_threads(ClockedLaunch& launch, double count) {
  scale_grid(launch, 1 / count);
  for (BlockWork& block : launch.counters.work.kinds) {
    block.issue_slots = times(block.issue_slots, count);
    block.all_shared_requests = times(block.all_shared_requests, count);
  }
}

double most_parts(const LaunchWork& work) {
  double most = 1;
  for (const BlockWork& block : work.kinds)
    most = std::max({most, real(block.load_batches), real(block.chain_clocks) / 64});
  return most;
}

void fetch_for_loads_only(Counters& c) {
  constexpr double kFetchBytes = 64;
  c.dram_fetched_pieces =
      std::min(c.dram_fetched_pieces, share_of(c.dram_read_bytes, 1 / kFetchBytes));
}

void fetch_once(Counters& c, std::uint64_t read) {
  fetch_for_loads_only(c);
  c.dram_lone_pieces = 0;
  if (read == 0) return;
  c.l2_waiting_sectors = share_of(c.l2_waiting_sectors, real(c.l2_read_sectors) / real(read));
}

double local_batches_share(const Counters& c) {
  const std::uint64_t batches = c.global_load_rounds + c.local_load_rounds;
  return batches == 0 ? 0 : real(c.local_load_rounds) / real(batches);
}

namespace {

using Rule = std::optional<WhatIf> (*)(const Observed&);

constexpr Rule kRules[] = {
#define MEMBOUND_RULE(id, name, fault, counter, remedy, handout, section) find_##id,
#include "grader/vgpu/counters/rules.def"
#undef MEMBOUND_RULE
};

}  // namespace

std::vector<Advice> advise(const Machine& machine, const counters::LaunchCounters& counters,
                           const LaunchShape& shape, const Prediction& prediction) {
  std::vector<Advice> all;
  // Whatever is taken away, the launch itself stays.
  if (prediction.ns < kLeastSpeedup * prediction.fixed_ns) return all;
  const Observed observed{machine, counters, shape, prediction};
  for (std::size_t i = 0; i < std::size(kRules); ++i) {
    const auto what_if = kRules[i](observed);
    if (!what_if) continue;
    const counters::RuleInfo& rule = counters::kRules[i];
    const ClockedLaunch& launch = what_if->launch;
    const double ns = predict(machine, launch.counters, launch.shape, launch.removed).ns;
    Advice advice{&rule, prediction.ns / ns, what_if->what, 0, "", 0};
    if (advice.speedup < kLeastSpeedup) continue;
    advice.value = counters.totals.*counters::find_counter(rule.counter)->member;
    if (what_if->line != nullptr) {
      advice.file = what_if->line->file;
      advice.line = what_if->line->line;
    }
    all.push_back(std::move(advice));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Advice& a, const Advice& b) { return a.speedup > b.speedup; });
  return all;
}

}  // namespace membound::vgpu::advice
