// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds what the virtual GPU counted in a timed run against the stage's bars on counters. A real
/// GPU counts nothing that a check could read, so there every kernel meets them, but for bars on
/// what a launch is known to have.
/// Place in the chain: measurement's counters -> [counter_bars] -> verdict.
#pragma once

#include <optional>
#include <string_view>

#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/course/measurement.hpp"

namespace membound::judge {

/// The name in CounterBar::counter of what no counter has to count: the bytes of shared memory that
/// a block has, declared and asked for. Every device knows them before the launch.
inline constexpr std::string_view kSharedBytesOfABlock = "shared_bytes_of_a_block";

/// The first bar that a kernel of the submission misses, with the source line that misses it by the
/// most; nothing where all are met, the stage has none, or nothing was counted.
[[nodiscard]] std::optional<course::Finding> missed_counter_bar(
    const course::Lab& lab, const course::Stage& stage,
    const course::StageMeasurement& measurement);

/// What was counted, over all kernels of the first timed case, of what the stage asks its students
/// to predict. Nothing where it asks nothing, nothing was counted, or there is nothing to divide
/// by.
[[nodiscard]] std::optional<double> counted_answer(const course::Stage& stage,
                                                   const course::StageMeasurement& measurement);

}  // namespace membound::judge
