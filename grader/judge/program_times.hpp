// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A check on a GPU: after the verdict's timeline, which is the virtual clock's, the work of
/// programs is timed on that GPU, beside the reference program, with events of the grader's.
/// Place in the chain: judge -> [program_times] -> test_program; verdict reads what came of it.
/// Left out: graded runs. Program and events share a process, so a stranger could forge the times.
#pragma once

#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {

/// Times those stages of `measurements` that pass all their tests, and adds timings, notes and the
/// test ReachesItsBar to them. `run` is the run that they came from, with the environment in which
/// a program finds the device to be timed on. Where they could not be timed a note says why.
[[nodiscard]] base::Status time_programs(const RunRequest& run,
                                         std::vector<course::StageMeasurement>& measurements);

}  // namespace membound::judge
