// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The text of one results.json, for the export of a class and for an autograder's container.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "grader/course/grade.hpp"

namespace membound::exchange {

/// A grade with its stages as tests. A withheld score is none: Gradescope then shows a failure
/// that a person has to look at.
[[nodiscard]] nlohmann::json gradescope_results(const course::Grade& grade);

/// 0 points, and why.
[[nodiscard]] nlohmann::json gradescope_refusal(const std::string& why);

/// No score: our own part failed, in these words.
[[nodiscard]] nlohmann::json gradescope_failure(const std::string& why);

}  // namespace membound::exchange
