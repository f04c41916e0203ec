// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The clock: how long a launch would take on a given GPU, as an explainable largest of bounds, and
/// which bound that is. It reads counters only, and everything it says is *predicted*:
/// docs/timing_model.md lists what it was held against and how far off it is. Left out: contention
/// between kernels of several streams, clock throttling, TLB misses.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/memory/dim3.hpp"
#include "grader/vgpu/timing/machine.hpp"
#include "grader/vgpu/timing/occupancy.hpp"

namespace membound::vgpu::timing {

/// The launch as the block scheduler sees it.
struct LaunchShape {
  Dim3 grid = {};
  Dim3 block = {};
  std::uint32_t registers_per_thread = 0;
  std::uint32_t shared_bytes = 0;    ///< static and dynamic of a block
  std::uint64_t constant_bytes = 0;  ///< of the program's variables in constant memory
};

/// What can set the pace.
enum class BoundKind : std::uint8_t {
#define MEMBOUND_BOUND(id, words, meaning) id,
#include "grader/vgpu/timing/bounds.def"
};

/// "issue slots", "DRAM bandwidth", …: the words used in reports.
[[nodiscard]] std::string_view to_string(BoundKind kind);

/// One bound alone: the launch cannot be faster than this.
struct Bound {
  BoundKind kind = BoundKind::kLaunch;
  double ns = 0;
};

/// The verdict of the model.
struct Prediction {
  double ns = 0;              ///< predicted kernel time, start and end included
  std::vector<Bound> bounds;  ///< largest first
  BoundKind binding = BoundKind::kLaunch;
  Occupancy occupancy;
  double waves = 0;     ///< how many times the machine is filled with blocks
  double fixed_ns = 0;  ///< of `ns`: launch and ramp, whatever the kernel does
};

/// What a launch is thought to be without.
struct Removed {
  bool uneven_blocks = false;  ///< the blocks' work is spread over all slots of the machine
};

/// What a block of the launch asks of its SM.
[[nodiscard]] BlockNeeds block_needs(const LaunchShape& shape);

/// Predicts one launch, whose counters have its work (of one without a block that ended, what
/// launching takes is known, and no more), and of which an SM holds as many blocks as `occupancy`
/// says. Bounds overlap only in part where they are of similar size, so they are combined as the
/// square root of their squares' sum, which is the largest where it stands alone.
[[nodiscard]] Prediction predict(const Machine& machine, const counters::LaunchCounters& counters,
                                 const LaunchShape& shape, const Occupancy& occupancy,
                                 Removed removed = {});
/// The same, with the occupancy that its shape leads to.
[[nodiscard]] Prediction predict(const Machine& machine, const counters::LaunchCounters& counters,
                                 const LaunchShape& shape, Removed removed = {});

}  // namespace membound::vgpu::timing
