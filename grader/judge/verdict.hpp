// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measurement -> verdict, points and findings. A pure function: the same measurement is judged the
/// same, today and in a year, at a student's desk and when graded. Bars on counters are held
/// against what the virtual GPU counted; a real GPU counts nothing that a check could read, so
/// there every kernel meets them, but for bars on what a launch is known to have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/course/measurement.hpp"

namespace membound::judge {

/// Points for a right result at `ratio` of the reference's speed: the correctness share, and of the
/// rest ratio / full_ratio, at most all of it, from pass_ratio on; below it none of the rest.
[[nodiscard]] double points_for(const course::Stage& stage, double ratio);

/// Everything about one stage that was run.
[[nodiscard]] course::StageResult judge_stage(const course::Lab& lab, const course::Stage& stage,
                                              const course::StageMeasurement& measurement);

/// Adds what becomes of a result by what answers.md says of the stage in the text of `submission`:
/// the test NamesTheMistake, and the share of the points that right answers earn.
void hold_answers(const course::Lab& lab, const course::Stage& stage, std::string_view submission,
                  course::StageResult& result);

/// The result of a stage that could not be run: compile_error, skipped or infra_error.
[[nodiscard]] course::StageResult not_run(const course::Lab& lab, const course::Stage& stage,
                                          course::Verdict verdict, std::string reason);

/// The name of the first failed test, or of the one that a verdict without tests stands for
/// ("Compiles" for compile_error): what a wrong answer's head names. Empty for a passed stage.
[[nodiscard]] std::string failed_test(const course::StageResult& result);

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
