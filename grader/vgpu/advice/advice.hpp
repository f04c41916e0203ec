// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The guided analysis: what makes a launch slow, each with the estimated speedup of taking it
/// away. That is no guess: the clock predicts the launch again with counters and blocks as they
/// would be. Left out: whether the fault can be taken away; what two rules would bring together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/vgpu/counters/counters.hpp"
#include "grader/vgpu/timing/model.hpp"

namespace membound::vgpu::advice {

/// One fault of a launch.
struct Advice {
  const counters::RuleInfo* rule = nullptr;
  double speedup = 1;       ///< estimated: predicted time over that without the fault
  std::string what;         ///< "32 wavefronts a request instead of 1"
  std::uint64_t value = 0;  ///< of the rule's counter
  std::string file;         ///< where it costs most; empty where no line is to blame
  std::uint32_t line = 0;
};

/// Estimated speedups below this are not told.
inline constexpr double kLeastSpeedup = 1.05;

/// The faults of a launch that `prediction` is of, the largest speedup first.
[[nodiscard]] std::vector<Advice> advise(const timing::Machine& machine,
                                         const counters::LaunchCounters& counters,
                                         const timing::LaunchShape& shape,
                                         const timing::Prediction& prediction);

}  // namespace membound::vgpu::advice
