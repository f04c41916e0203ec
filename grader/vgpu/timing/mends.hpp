// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What each rule of the guided analysis looks for, and what it gives the clock instead.
/// Place in the chain: [mends] -> advice.
#pragma once

#include <optional>
#include <string>

#include "grader/vgpu/timing/model.hpp"

namespace membound::vgpu::timing {

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
  [[nodiscard]] double places() const;
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
struct Mend {
  ClockedLaunch launch;
  std::string what;
  const counters::LineCounters* line = nullptr;
};

/// "12.5", "1,024" without the comma: three digits, whole numbers whole.
[[nodiscard]] std::string short_number(double value);

/// The line with most of a counter; null where no line has any.
[[nodiscard]] const counters::LineCounters* line_with_most(
    const counters::LaunchCounters& counters, std::uint64_t counters::Counters::*counter);

#define MEMBOUND_RULE(id, name, fault, counter, remedy, handout, section) \
  [[nodiscard]] std::optional<Mend> find_##id(const Observed& o);
#include "grader/vgpu/counters/rules.def"
#undef MEMBOUND_RULE

}  // namespace membound::vgpu::timing
