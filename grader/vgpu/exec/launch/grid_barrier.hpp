// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finds out that the blocks that wait at cooperative groups' grid barrier wait for one that has
/// ended.
/// Place in the chain: launch/grid -> [grid_barrier]. Left out: the barrier itself, which is code
/// of the program's (cooperative_groups/details/sync.h).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Of one launch, by the thread that runs all its blocks.
class GridBarrierWatch {
 public:
  explicit GridBarrierWatch(Launch& launch) : launch_(launch) {}
  void ended(const Block& block);
  /// Each of `running` had a turn, and `all_spun`: none did more than poll. They are all there are.
  void round(const std::deque<std::unique_ptr<Block>>& running, bool all_spun);

 private:
  /// Of the barrier's current phase; nobody: it is not in one.
  [[nodiscard]] std::uint64_t arrived() const;

  Launch& launch_;
  std::uint64_t ended_ = 0;
  std::vector<std::uint64_t> first_ended_;  ///< the first few
  std::uint32_t idle_rounds_ = 0;
};

}  // namespace membound::vgpu::exec
