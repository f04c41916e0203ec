// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What one piece of device work (a launch, a copy, a fill) touches of global memory, for whoever
/// asks whether two pieces that nothing orders touch the same.
/// Place in the chain: exec/observe/footprint_observer, runtime -> [footprint] -> runtime/device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "grader/vgpu/exec/state/access_event.hpp"
#include "grader/vgpu/exec/state/fault.hpp"
#include "grader/vgpu/memory/address_ranges.hpp"

namespace membound::vgpu::exec {

struct Footprint {
  /// What one instruction touches, or one end of a copy.
  struct Part {
    Place place;  ///< of the thread that came first; empty where no kernel did it
    AccessKind kind = AccessKind::kLoad;
    memory::AddressRanges ranges;
  };
  /// More ranges than this are not kept: some 64 MB.
  static constexpr std::size_t kMostRanges = std::size_t{1} << 20;

  std::deque<Part> parts;  ///< which stay at their places
  /// Too much was touched, in too many pieces: nothing is known.
  bool too_large = false;
};

}  // namespace membound::vgpu::exec
