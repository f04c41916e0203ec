// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/exec/launch/grid_barrier.hpp"

#include <bit>
#include <string>

#include "grader/vgpu/exec/state/fault_messages.hpp"

namespace membound::vgpu::exec {
namespace {

constexpr std::size_t kNamedBlocks = 3;

/// A word behind the size of the workspace. All arrivals of a phase add up to the highest bit: 1
/// each, and what is missing from block 0.
constexpr std::uint64_t kGridWordOffset = 4;
constexpr std::uint32_t kPhaseBit = 0x80000000u;

}  // namespace

void GridBarrierWatch::ended(const Block& block) {
  idle_rounds_ = 0;
  ++ended_;
  if (first_ended_.size() < kNamedBlocks) first_ended_.push_back(block.linear);
}

std::uint64_t GridBarrierWatch::arrived() const {
  std::uint32_t word = 0;
  if (!launch_.request->memory->copy_out(&word, launch_.grid_barrier_address + kGridWordOffset,
                                         sizeof word))
    return 0;
  const std::uint32_t part = word & ~kPhaseBit;
  const bool block_0_has = part >= kPhaseBit / 2;
  return block_0_has ? launch_.request->grid.count() - (kPhaseBit - part) : part;
}

void GridBarrierWatch::round(const std::deque<std::unique_ptr<Block>>& running, bool all_spun) {
  // Who arrives polls in the same turn: only the second such round has no arrival in it.
  idle_rounds_ = all_spun ? idle_rounds_ + 1 : 0;
  if (idle_rounds_ < 2 || ended_ == 0 || launch_.grid_barrier_address == 0) return;
  const std::uint64_t waiting = arrived();
  if (waiting == 0) return;
  const LaunchRequest& request = *launch_.request;
  std::string text = "the barrier of the grid waits for all " +
                     std::to_string(request.grid.count()) + " blocks; " + std::to_string(waiting) +
                     (waiting == 1 ? " has" : " have") + " come, and " + std::to_string(ended_) +
                     (ended_ == 1 ? " has" : " have") + " ended without it: block ";
  for (const std::uint64_t block : first_ended_)
    text += (block == first_ended_.front() ? "" : ", ") + triple(request.grid.index(block));
  if (ended_ > first_ended_.size()) text += ", …";
  for (const auto& block : running) {
    for (Warp& w : block->warps) {
      for (std::uint32_t g = 0; g < w.group_count; ++g) {
        const Group& group = w.groups[g];
        if (group.state != GroupState::kReady) continue;
        w.frame = group.frame;
        raise(w, group.pc, FaultKind::kDeadlock,
              static_cast<std::uint32_t>(std::countr_zero(group.mask)), 0, text);
        return;
      }
    }
  }
}

}  // namespace membound::vgpu::exec
