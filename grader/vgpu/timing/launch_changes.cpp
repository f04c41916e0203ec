// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/timing/launch_changes.hpp"

#include <cmath>

#include "grader/vgpu/timing/quantities.hpp"

namespace membound::vgpu::timing {

using counters::BlockRun;
using counters::BlockWork;
using counters::Counters;
using counters::LaunchWork;

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
       {&block.chain_clocks, &block.load_rounds, &block.shared_requests,
        &block.barriers_after_loads, &block.other_barriers, &block.warp_chain_clocks,
        &block.warp_load_rounds, &block.warp_shared_requests})
    *part = times(*part, factor);
}

void scale_sums(BlockWork& block, double factor) {
  for (std::uint64_t* part :
       {&block.issue_slots, &block.all_load_rounds, &block.all_shared_requests})
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
    most = std::max({most, real(block.load_rounds), real(block.chain_clocks) / 64});
  return most;
}

void fetch_for_loads_only(Counters& c) {
  constexpr double kPiece = 64;
  c.dram_fetched_pieces = std::min(c.dram_fetched_pieces, share_of(c.dram_read_bytes, 1 / kPiece));
}

void fetch_once(Counters& c, std::uint64_t read) {
  fetch_for_loads_only(c);
  c.dram_lone_pieces = 0;
  if (read == 0) return;
  c.l2_waiting_sectors = share_of(c.l2_waiting_sectors, real(c.l2_read_sectors) / real(read));
}

double local_rounds_share(const Counters& c) {
  const std::uint64_t rounds = c.global_load_rounds + c.local_load_rounds;
  return rounds == 0 ? 0 : real(c.local_load_rounds) / real(rounds);
}

}  // namespace membound::vgpu::timing
