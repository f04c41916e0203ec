// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The guided analysis: what makes a launch slow, each with what taking it away would gain. A gain
/// is no guess: the clock predicts the launch again with counters and blocks as they would be.
/// Place in the chain: counters, model -> [advice] -> runtime's counters file -> judge, reports.
/// Left out: whether the fault can be mended; what two mends would gain together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/vgpu/counters/rules.hpp"
#include "grader/vgpu/timing/model.hpp"

namespace membound::vgpu::timing {

/// One fault of a launch.
struct Advice {
  const counters::RuleInfo* rule = nullptr;
  double gain = 1;          ///< predicted time over predicted time without the fault
  std::string what;         ///< "32 wavefronts a request where 1 would do"
  std::uint64_t value = 0;  ///< of the rule's counter
  std::string file;         ///< where it costs most; empty where no line is to blame
  std::uint32_t line = 0;
};

/// Gains below this are not told.
inline constexpr double kLeastGain = 1.05;

/// The faults of a launch that `prediction` is of, the largest gain first.
[[nodiscard]] std::vector<Advice> advise(const Machine& machine,
                                         const counters::LaunchCounters& counters,
                                         const LaunchShape& shape, const Prediction& prediction);

}  // namespace membound::vgpu::timing
