// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a student said to a stage's question, beside what was counted.
/// Place in the chain: lab.json, state, result -> [predictions] -> predict, check, watch.
#pragma once

#include <optional>
#include <string>

#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"

namespace membound::report {

/// "Stage 2: you said 4 sectors; it was 32." with a newline. Empty where the stage asks nothing or
/// nothing was said. `answer` is nothing where the device counts nothing.
[[nodiscard]] std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                                           std::optional<double> answer);

/// The same beside a check. Empty too where its run was none to count: a kernel that was not timed,
/// a program that did not come to its end.
[[nodiscard]] std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                                           const course::StageResult& result);

}  // namespace membound::report
