// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Threads that ended before a barrier of their block opened: did they return early, which is in
/// order (since Volta a barrier waits only for threads that have not exited: CUDA C++ Programming
/// Guide, "Independent Thread Scheduling"), or did they go round the barrier, do what comes behind
/// it, and end before the others came?
/// Place in the chain: synccheck -> [early_returns] -> program/paths. Left out: barriers and exits
/// inside of functions that are really called; of those nothing is said to be a return.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// Lanes of one warp that ended together.
struct EndedLanes {
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
  const Step* last_branch = nullptr;  ///< of two ways, that they came to; null: none
  const Step* at = nullptr;           ///< where they ended
};

/// Of one launch; asked by one worker at a time.
class EarlyReturns {
 public:
  explicit EarlyReturns(const Launch& launch) : launch_(launch) {}

  /// Lanes that ended while others waited at `barrier`: after their last branch, did they do
  /// nothing that is done behind the barrier, but end?
  [[nodiscard]] bool returned_before(const Step* barrier, const EndedLanes& ended);

 private:
  [[nodiscard]] std::optional<std::uint32_t> index_of(const Step* step) const;
  [[nodiscard]] const std::vector<bool>& after(std::uint32_t at);
  [[nodiscard]] std::optional<bool> is_clean(std::uint32_t begin, std::uint32_t end,
                                             std::uint32_t barrier);

  const Launch& launch_;
  std::map<std::uint32_t, std::vector<bool>> after_;  ///< by instruction
};

}  // namespace membound::vgpu::exec
