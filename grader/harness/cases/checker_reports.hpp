// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the virtual GPU's checkers found in a test, among the findings of its stage.
/// Place in the chain: stage_run, program_main -> [checker_reports] -> nlohmann. Left out: the
/// checkers, which are the virtual GPU's.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace membound::harness {

/// Adds the findings of a report (docs/counters_file.md) to `all`, an array or null, with the name
/// of the test. What another instance or another turn of an unrolled loop shows at the same line
/// is one finding.
void add_checks(const nlohmann::json& report, const std::string& test, nlohmann::json& all);

}  // namespace membound::harness
