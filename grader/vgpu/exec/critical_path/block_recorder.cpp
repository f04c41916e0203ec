// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/critical_path/block_recorder.hpp"

#include <algorithm>
#include <bit>

#include "grader/vgpu/program/instruction.hpp"

namespace membound::vgpu::exec {
namespace {

using counters::BlockWork;

/// Six binary digits.
std::uint64_t rounded(std::uint64_t value) {
  const int more = std::max(0, static_cast<int>(std::bit_width(value)) - 6);
  return value >> more << more;
}

std::uint64_t whole_batches(std::uint64_t parts) {
  return (parts + program::kUnrollFactor - 1) / program::kUnrollFactor;
}

/// Ends the phase; tells whether some warp loaded in it.
bool close_phase(Block& block) {
  PathTotals& path = block.path;
  const std::uint64_t batch_clocks = block.launch->load_batch_clocks;
  const Warp* slowest = block.warps.data();
  std::uint64_t longest = 0;
  PathSum all = {};
  for (Warp& w : block.warps) {
    const std::uint64_t clocks =
        w.path[kChainClocks] + whole_batches(w.path[kLoadBatches] * batch_clocks);
    if (clocks != 0) w.left_at = path.clocks + clocks;  // the last that is not 0 stays
    if (clocks > longest) {
      longest = clocks;
      slowest = &w;
    }
    all += w.path;
  }
  path.clocks += longest;
  for (std::size_t i = 0; i < 4; ++i) {
    path.critical[i] += slowest->path[i];
    path.all[i] += all[i];
  }
  for (Warp& w : block.warps) {
    w.ended_path += w.path;
    w.path = PathSum{};
  }
  return all[kLoadBatches] != 0;
}

BlockWork work_of(const Block& block) {
  const PathTotals& path = block.path;
  BlockWork work;
  work.chain_clocks = rounded(path.critical[kChainClocks]);
  work.load_batches = rounded(whole_batches(path.critical[kLoadBatches]));
  work.shared_requests = rounded(path.critical[kSharedRequests]);
  work.barriers_after_loads = rounded(path.barriers_after_loads);
  work.other_barriers = rounded(path.other_barriers);
  work.issue_slots = rounded(path.all[kIssueSlots]);
  work.all_load_batches = rounded(whole_batches(path.all[kLoadBatches]));
  work.all_shared_requests = rounded(path.all[kSharedRequests]);
  const auto clocks_of = [&](const Warp& w) {
    return w.ended_path[kChainClocks] + whole_batches(std::uint64_t{w.ended_path[kLoadBatches]} *
                                                      block.launch->load_batch_clocks);
  };
  const Warp& longest =
      *std::max_element(block.warps.begin(), block.warps.end(),
                        [&](const Warp& a, const Warp& b) { return clocks_of(a) < clocks_of(b); });
  work.warp_chain_clocks = rounded(longest.ended_path[kChainClocks]);
  work.warp_load_batches = rounded(whole_batches(longest.ended_path[kLoadBatches]));
  work.warp_shared_requests = rounded(longest.ended_path[kSharedRequests]);
  for (const Warp& w : block.warps) work.early_warps += w.left_at * 2 < path.clocks;
  return work;
}

}  // namespace

void end_phase(Block& block) {
  ++(close_phase(block) ? block.path.barriers_after_loads : block.path.other_barriers);
}

std::size_t BlockRecorder::Hash::operator()(const BlockWork& work) const {
  std::uint64_t hash = 0;
  for (const std::uint64_t part :
       {work.chain_clocks, work.load_batches, work.shared_requests, work.barriers_after_loads,
        work.other_barriers, work.issue_slots, work.early_warps, work.warp_chain_clocks,
        work.warp_load_batches})
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

BlockRecorder::BlockRecorder(std::uint64_t blocks)
    : blocks_(blocks), kind_of_(std::min(blocks, kMostBlocks), 0) {}

void BlockRecorder::add(Block& block) {
  close_phase(block);
  const std::uint64_t place = block.launch->chosen.empty() ? block.linear : block.turn;
  if (place >= kind_of_.size()) return;
  const BlockWork work = work_of(block);
  if (block.last_kind == 0 || !(work == block.last_work)) {
    const std::lock_guard lock(mutex_);
    const auto [found, is_new] =
        numbers_.try_emplace(work, static_cast<std::uint32_t>(kinds_.size() + 1));
    if (is_new) kinds_.push_back(work);
    block.last_kind = found->second;
    block.last_work = work;
  }
  kind_of_[place] = block.last_kind;
}

void BlockRecorder::add_to(counters::LaunchWork& work) const {
  std::vector<std::size_t> order(kinds_.size() + 1, 0);  // by number: place in `work`, from 1
  for (const std::uint32_t number : kind_of_) {
    if (number == 0) continue;
    if (order[number] == 0) {
      work.kinds.push_back(kinds_[number - 1]);
      order[number] = work.kinds.size();
    }
    const std::size_t kind = order[number] - 1;
    if (work.runs.empty() || work.runs.back().kind != kind) work.runs.push_back({kind, 0});
    ++work.runs.back().blocks;
  }
  if (!work.runs.empty() && blocks_ > kind_of_.size())
    work.runs.back().blocks += blocks_ - kind_of_.size();
}

}  // namespace membound::vgpu::exec
