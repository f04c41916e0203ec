// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What running a sample of a launch may take, in warp instructions.
/// Place in the chain: sampled_launch -> [sample_limits]. Left out: which blocks run.
#pragma once

#include <algorithm>
#include <cstdint>

namespace membound::vgpu::exec {

/// Of one launch.
struct SampleLimits {
  std::uint64_t wanted = 0;  ///< SampleOrder::instructions
  bool some_warps = false;   ///< of each block: SampleOrder::some_warps

  /// Block 0, which runs alone: a tile of 128 x 128 takes 2.3 million.
  static constexpr std::uint64_t kMostAlone = std::uint64_t{1} << 23;
  /// All blocks, where they prepare what a sample needs.
  static constexpr std::uint64_t kMostBefore = std::uint64_t{1} << 23;

  /// So many blocks that run at once.
  [[nodiscard]] std::uint64_t most_at_once(std::uint64_t blocks) const {
    return some_warps ? kMostOfWarps * blocks : kMostAtOnce;
  }
  /// Of the blocks that an SM holds, so many run, where one takes `of_block`.
  [[nodiscard]] std::uint32_t blocks_of_sm(std::uint64_t of_block, std::uint32_t held) const {
    if (some_warps) return 1;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kManyAtOnce / of_block, 1, held));
  }
  /// Groups of a round, where one takes `of_group`.
  [[nodiscard]] std::uint32_t groups(std::uint64_t of_group) const {
    if (some_warps) return 2;  // at once: what they take is known, and two are compared
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(wanted / (4 * of_group), 1, kMostGroups));
  }
  /// Where a block takes so much, one run for its own sake is enough.
  [[nodiscard]] bool is_much(std::uint64_t of_block) const { return of_block >= wanted / 8; }

 private:
  static constexpr std::uint64_t kMostAtOnce = std::uint64_t{1} << 24;
  /// A block of which only some warps run: with a row of 1568 x 1568 results of min-plus for each
  /// thread a warp takes 17 million.
  static constexpr std::uint64_t kMostOfWarps = std::uint64_t{1} << 25;
  /// Where the blocks that an SM holds would take more than this, fewer of them run: one at least.
  /// A tile of 64 x 64 results of a product of 2048 x 2048 takes 0.66 million.
  static constexpr std::uint64_t kManyAtOnce = std::uint64_t{1} << 21;
  static constexpr std::uint32_t kMostGroups = 12;  ///< even for what repeats every 2, 3, 4, 6
};

}  // namespace membound::vgpu::exec
