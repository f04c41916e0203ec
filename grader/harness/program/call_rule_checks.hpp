// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Holds the calls of one run against what lab.json demands of them. Pure.
/// Place in the chain: runner's record -> [call_rule_checks] -> main. Left out: the rules' names
/// and words (course/call_rules).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/sandbox/runner/call_record.hpp"

namespace membound::harness {

/// Why the calls do not meet the demand, with the remedy; nothing where they do. `kernel` is the
/// stage's, as the programmer wrote it.
[[nodiscard]] std::optional<std::string> breach_of(const course::CallDemand& demand,
                                                   const std::string& kernel,
                                                   const std::vector<runner::Call>& calls);

}  // namespace membound::harness
