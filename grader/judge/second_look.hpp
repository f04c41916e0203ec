// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// After a wrong result, a fault or a deadlock on the virtual GPU: the same once more with all
/// checkers on, which name the line, the thread and what to do. They cost several times the time,
/// so they look on only where something went wrong.
/// Place in the chain: check -> [second_look] -> runner; findings tells what came of it.
#pragma once

#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {

/// Is there something in this measurement that checkers could explain?
[[nodiscard]] bool deserves_second_look(const course::Lab& lab,
                                        const course::StageMeasurement& measurement);

/// How the stage is run again: its failed test alone where that is known, without timing.
[[nodiscard]] RunRequest second_look(const RunRequest& run,
                                     const course::StageMeasurement& measurement);

/// Runs again what deserves it and puts what the checkers found into `checks` of its measurement.
void look_again(const RunRequest& run, std::vector<course::StageMeasurement>& measurements);

}  // namespace membound::judge
