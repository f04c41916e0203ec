// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whose value a lane gets from a shuffle.
#pragma once

#include "grader/vgpu/exec/state/lanes.hpp"

namespace membound::vgpu::exec {

/// The lane that is asked; out of range it is the asking lane itself.
struct ShuffleSource {
  std::uint32_t lane = 0;
  bool in_range = false;  ///< the shuffle's second result
};

/// Whether `c` divides the warp into segments of 1, 2, 4, … 32 lanes, which all others are not
/// defined for (CUDA programming guide, warp shuffle functions: `width`). Other bits of `c` count
/// for nothing: CUB sets them all where a warp has no items.
[[nodiscard]] inline bool divides_warp(std::uint32_t c) {
  const std::uint32_t within = ~(c >> 8) & 31;
  return (within & (within + 1)) == 0;
}

[[nodiscard]] inline ShuffleSource shuffle_source(const Warp& w, const Step* s, std::uint32_t i) {
  using program::ShuffleMode;
  const std::uint32_t by = generic::at<const std::uint32_t>(w, s->b)[i] & 31;
  const std::uint32_t c = generic::at<const std::uint32_t>(w, s->c)[i];
  const std::uint32_t clamp = c & 31, segment = (c >> 8) & 31;
  const std::uint32_t last = (i & segment) | (clamp & ~segment), first = i & segment;
  std::uint32_t from = i;
  bool ok = true;
  switch (s->extra->in->as<program::Shuffle>().mode) {
    case ShuffleMode::kUp:
      ok = static_cast<std::int32_t>(i - by) >= static_cast<std::int32_t>(last);
      from = i - by;
      break;
    case ShuffleMode::kDown:
      from = i + by, ok = from <= last;
      break;
    case ShuffleMode::kBfly:
      from = i ^ by, ok = from <= last;
      break;
    case ShuffleMode::kIdx:
      from = first | (by & ~segment), ok = from <= last;
      break;
  }
  return {ok ? from & 31 : i, ok};
}

}  // namespace membound::vgpu::exec
