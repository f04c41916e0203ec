// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The critical path of a block while it runs: which of its warps was the slowest in each phase
/// between two barriers, and what kinds of blocks a launch had. It is a few additions a phase and
/// warp, and no Observer, because every launch has it.
#pragma once

#include <mutex>
#include <unordered_map>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/exec/state/execution_state.hpp"

namespace membound::vgpu::exec {

/// A barrier of the whole block opens: a phase has ended.
void end_phase(Block& block);

/// The kinds of blocks of one launch, in launch order.
class BlockRecorder {
 public:
  explicit BlockRecorder(std::uint64_t blocks);
  /// All threads of the block have exited.
  void add(Block& block);
  /// After the launch. Blocks that did not end are left out.
  void add_to(counters::LaunchWork& work) const;

 private:
  /// Blocks beyond these are taken to be like those before.
  static constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 24;
  struct Hash {
    std::size_t operator()(const counters::BlockWork& work) const;
  };

  std::uint64_t blocks_;
  std::vector<std::uint32_t> kind_of_;  ///< by block (or place among the chosen): number, from 1
  std::mutex mutex_;                    ///< guards what follows
  std::unordered_map<counters::BlockWork, std::uint32_t, Hash> numbers_;
  std::vector<counters::BlockWork> kinds_;
};

}  // namespace membound::vgpu::exec
