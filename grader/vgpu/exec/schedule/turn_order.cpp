// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/schedule/turn_order.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

namespace membound::vgpu::exec {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
constexpr std::uint32_t kMostPauses = 16;  ///< of a warp
constexpr std::uint64_t kStepsAPause = 3;  ///< of those that may pause, about

/// The next number of a sequence (splitmix64): a round is as short as a few instructions, too short
/// for a generator with a large state.
std::uint64_t next_number(std::uint64_t& state) {
  std::uint64_t z = (state += kGolden);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

void start_turns(Block& block) {
  const LaunchRequest& request = *block.launch->request;
  block.turn_order.resize(block.warps.size());
  std::iota(block.turn_order.begin(), block.turn_order.end(), 0u);
  block.order_state = 0;
  const std::uint64_t of_block = block.linear * kGolden;
  if (request.shuffle_seed) {
    std::mt19937_64 random(*request.shuffle_seed ^ of_block);
    std::ranges::shuffle(block.turn_order, random);
  }
  if (!request.warp_order_seed || block.warps.size() < 2) return;
  block.order_state = (*request.warp_order_seed ^ of_block) | 1;
  for (Warp& w : block.warps) w.pauses = kMostPauses;
  draw_turns(block);
}

bool draw_pause(Warp& w) {
  Block& block = *w.block;
  if (block.order_state == 0 || w.pauses == 0) return false;
  if (next_number(block.order_state) % kStepsAPause != 0) return false;
  --w.pauses;
  return true;
}

void draw_turns(Block& block) {
  std::vector<std::uint32_t>& order = block.turn_order;
  const std::uint64_t drawn = next_number(block.order_state);
  // Of two warps each comes first about as often as the other. But the order of the numbers, which
  // all kernels were tried in, is that of all a shuffle of few warps would give too often: half of
  // the rounds have the last warp first, or another one.
  if (order.size() > 1 && drawn % 4 == 0) {
    std::ranges::sort(order, std::ranges::greater());
  } else if (order.size() > 1 && drawn % 4 == 1) {
    std::ranges::sort(order);
    const std::uint64_t by = 1 + (drawn >> 2) % (order.size() - 1);
    std::rotate(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(by), order.end());
  } else {
    for (std::size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[next_number(block.order_state) % left]);
  }
  // 0 says that the order stays.
  if (block.order_state == 0) block.order_state = kGolden;
}

}  // namespace membound::vgpu::exec
