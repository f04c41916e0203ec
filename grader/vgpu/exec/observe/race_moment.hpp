// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One access as the race checker looks at it: its stamp, and the limits by which earlier stamps
/// are sorted.
/// Place in the chain: exec/observe/race_checker, race_lines -> [race_moment] -> race_clock.
#pragma once

#include "grader/vgpu/exec/observe/race_checker.hpp"

namespace membound::vgpu::exec {

/// Who accesses, and which earlier accesses still count for it: those of its block since the last
/// barrier (`recent`), and in global memory those of other blocks in this launch (`foreign`).
struct Moment {
  using Stamp = memory::Stamp;

  Moment(const WarpAccess& access, const BlockRaces& races, std::uint64_t tag, std::uint64_t flags)
      : load(access.kind == AccessKind::kLoad),
        shared(access.space == ptx::StateSpace::kShared),
        origin(access.step->origin),
        floor(races.clock.floor()),
        whole(races.clock.whole(access.warp->index)),
        stamp(Stamp::make(tag, access.warp->block->linear, races.clock.time(access.warp->index),
                          std::uint64_t{access.warp->index} * 32, flags)),
        own(stamp & Stamp::kSameBlock),
        since(own | floor << Stamp::kTimeShift),
        span(own + (std::uint64_t{1} << Stamp::kBlockShift) - since) {}
  [[nodiscard]] bool recent(std::uint64_t before) const { return before - since < span; }
  [[nodiscard]] bool foreign(std::uint64_t before) const {
    const std::uint64_t difference = before ^ own;
    return !shared && difference >> Stamp::kTagShift == 0 &&
           ((difference & Stamp::kSameBlock) != 0 || (before & Stamp::kManyBlocks) != 0);
  }
  [[nodiscard]] bool counts(std::uint64_t before) const {
    return recent(before) || foreign(before);
  }

  bool load, shared;
  bool lands = false;  ///< an asynchronous copy, which wrote to its place when it was issued, too
  std::uint16_t origin;
  std::uint64_t floor, whole;
  std::uint64_t stamp;  ///< of lane 0
  std::uint64_t own, since, span;
};

}  // namespace membound::vgpu::exec
