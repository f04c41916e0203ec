// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What changed between two checks of a stage: "0.67 -> 1.00; line 126: 32 -> 1 wavefronts".
/// Place in the chain: state of the last check, result -> [what_changed] -> `check`, `watch`.
#pragma once

#include <string>

#include "grader/course/lab_result.hpp"
#include "grader/report/style.hpp"

namespace membound::report {

/// One line without its end; empty where nothing that is told has changed. Runs on two devices are
/// not compared.
[[nodiscard]] std::string what_changed(const course::StageResult& before,
                                       const course::StageResult& now, const Style& style);

}  // namespace membound::report
