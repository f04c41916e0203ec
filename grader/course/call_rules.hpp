// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a host-code lab may ask of the calls its students' programs make, one row a rule. How each
/// is decided: harness/program/call_rule_checks.
/// Place in the chain: [call_rules] -> lab, harness/program.
#pragma once

#include <span>
#include <string_view>

namespace membound::course {

/// One rule.
struct CallRule {
  std::string_view name;    ///< in lab.json: "checks-launches"
  std::string_view test;    ///< the test it becomes: "ChecksEveryLaunch"
  std::string_view number;  ///< what the number beside it is; empty: it takes none
  std::string_view meaning;
  std::string_view remedy;  ///< the last sentence of its message
};

/// All rules there are.
[[nodiscard]] std::span<const CallRule> call_rules();
/// The rule of that name, or null.
[[nodiscard]] const CallRule* find_call_rule(std::string_view name);

}  // namespace membound::course
