// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What there is to count of the calls of one run, most of it shares of the timeline's time. Pure.
/// Place in the chain: runner's record -> [timeline_shares] -> call_rule_checks, program_main.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/sandbox/runner/call_record.hpp"

namespace membound::harness {

/// What a rule or a count looks at.
struct Case {
  const std::vector<runner::Call>& calls;
  const std::string& kernel;
  double number;

  [[nodiscard]] bool is_launch(const runner::Call& call) const;
};

/// Of the time that the kernels would take one after the other; 0 of none.
[[nodiscard]] double kernel_time_saved(const Case& c);

/// Of the time that copies take; 0 of none.
[[nodiscard]] double copies_beside_kernels(const Case& c);

/// What there is to count of the calls, by the names of course/lab.
[[nodiscard]] std::map<std::string, double> program_counts(const std::string& kernel,
                                                           const std::vector<runner::Call>& calls);

}  // namespace membound::harness
