// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/schedule/some_warps.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace membound::vgpu::exec {
namespace {

/// Warp instructions. Blocks of which some warps run take 128 times as many, at least.
constexpr std::uint64_t kLong = std::uint64_t{1} << 16;

}  // namespace

bool has_unequal_warps(const Block& block) {
  bool long_ones = false, left = false;
  for (const Warp& w : block.warps) {
    if (w.group_count != 0)
      left = true;
    else if (w.path[kIssueSlots] >= kLong)  // in quarters, which unrolled instructions may take
      long_ones = true;
  }
  return long_ones && left;
}

BlockTurn run_some_warps(Block& block) {
  std::vector<std::uint32_t> order = std::exchange(block.turn_order, {});
  std::mt19937_64 random(block.launch->request->sample->seed ^
                         (block.linear * 0x9E3779B97F4A7C15u));
  std::ranges::shuffle(order, random);
  for (auto next = order.begin(); next != order.end(); ++next) {
    block.turn_order = {*next};
    const std::uint64_t before = block.worker->instructions;
    if (run_block(block, false) == BlockTurn::kHalted) return BlockTurn::kHalted;
    if (block.worker->instructions - before < kLong) continue;
    for (auto left = next + 1; left != order.end(); ++left)
      block.warps[*left].path = block.warps[*next].path;
    ++block.worker->long_warps;
    block.worker->left_warps += static_cast<std::uint64_t>(order.end() - next - 1);
    break;
  }
  return BlockTurn::kDone;
}

}  // namespace membound::vgpu::exec
