// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Measurement -> verdict, points and findings. A pure function: the same measurement is judged the
/// same, today and in a year, at a student's desk and when graded.
/// Place in the chain: harness's measurement -> [verdict] -> result.
#pragma once

#include <string>

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

/// The result of a stage that could not be run: compile_error, skipped or infra_error.
[[nodiscard]] course::StageResult not_run(const course::Lab& lab, const course::Stage& stage,
                                          course::Verdict verdict, std::string reason);

/// The name of the first failed test, or of the one that a verdict without tests stands for
/// ("Compiles" for compile_error): what a wrong answer's head names. Empty for a passed stage.
[[nodiscard]] std::string failed_test(const course::StageResult& result);

}  // namespace membound::judge
