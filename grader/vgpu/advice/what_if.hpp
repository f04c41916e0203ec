// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The what-if rules: what each looks for in a launch, and the changed launch that it has the clock
/// predict instead; and the changes that several of them make.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "grader/vgpu/timing/model.hpp"
#include "grader/vgpu/timing/throughput.hpp"

namespace membound::vgpu::advice {

using timing::Bound;
using timing::BoundKind;
using timing::kSectorBytes;
using timing::LaunchShape;
using timing::Limiter;
using timing::Machine;
using timing::max_warps_per_sm;
using timing::Occupancy;
using timing::Prediction;
using timing::ratio;
using timing::real;
using timing::Removed;

/// A launch as the clock sees it; `counters.lines` stay empty.
struct ClockedLaunch {
  counters::LaunchCounters counters;
  LaunchShape shape;
  Removed removed;
};

/// A launch that was run.
struct Observed {
  const Machine& machine;
  const counters::LaunchCounters& counters;
  const LaunchShape& shape;
  const Prediction& prediction;

  [[nodiscard]] double blocks() const { return static_cast<double>(shape.grid.count()); }
  [[nodiscard]] double threads_per_block() const {
    return static_cast<double>(shape.block.count());
  }
  /// Blocks that run at once on the whole machine.
  [[nodiscard]] double slots() const;
  /// Of the most warps, how many are there on average while the first wave runs: 0 to 1.
  [[nodiscard]] double filled() const;
  /// What one term of the model takes; 0 where it has none.
  [[nodiscard]] double bound_ns(BoundKind kind) const;
  /// The longest of the terms that are no waiting.
  [[nodiscard]] double busiest_ns() const;
  /// The same launch, to be changed; the blocks' work is there even if it was not recorded.
  [[nodiscard]] ClockedLaunch copy() const;
};

/// A fault and the launch without it.
struct WhatIf {
  ClockedLaunch launch;
  std::string what;
  const counters::LineCounters* line = nullptr;
};

/// "12.5", "1,024" without the comma: three digits, whole numbers whole.
[[nodiscard]] std::string short_number(double value);

/// The line with most of a counter; null where no line has any.
[[nodiscard]] const counters::LineCounters* line_with_most(
    const counters::LaunchCounters& counters, std::uint64_t counters::Counters::*counter);

/// No less than 0.
[[nodiscard]] inline std::uint64_t less(std::uint64_t value, std::uint64_t by) {
  return value - std::min(value, by);
}

/// Rounded; 0 where the share is small enough.
[[nodiscard]] std::uint64_t share_of(std::uint64_t value, double share);

/// What is there stays there: no less than 1 of it.
[[nodiscard]] std::uint64_t times(std::uint64_t value, double factor);

void scale_grid(ClockedLaunch& launch, double factor);

/// What the slowest warp of each phase does, `factor` times.
void scale_path(counters::BlockWork& block, double factor);

/// What all warps of a block do together.
void scale_sums(counters::BlockWork& block, double factor);

/// Each block becomes `parts` blocks that do it together.
void split_blocks(ClockedLaunch& launch, double parts);

/// `count` blocks become one of as many times the warps.
void join_blocks(ClockedLaunch& launch, double count);

/// Each thread does the work of `count`, their loads at once.
void widen_threads(ClockedLaunch& launch, double count);

/// How many parts the work of a block can be cut into: its waits in a row, or stretches of 64
/// clocks, which are about ten instructions.
[[nodiscard]] double most_parts(const counters::LaunchWork& work);

/// Has DRAM bring each byte once, in whole lines: what loads that waste nothing ask for. `read` is
/// what L1 asked L2 for before.
void fetch_once(counters::Counters& counters, std::uint64_t read);

/// No bytes are fetched for the sake of stores: none more than loads read.
void fetch_for_loads_only(counters::Counters& counters);

/// Of a warp's waits for memory, the share that is for local memory: 0 to 1.
[[nodiscard]] double local_batches_share(const counters::Counters& counters);

/// A what-if rule each: finds its fault in a launch, and gives back the launch without it.
#define MEMBOUND_RULE(id, name, fault, counter, remedy, handout, section) \
  [[nodiscard]] std::optional<WhatIf> find_##id(const Observed& o);
#include "grader/vgpu/counters/rules.def"
#undef MEMBOUND_RULE

}  // namespace membound::vgpu::advice
