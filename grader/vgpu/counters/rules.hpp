// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rules of the guided analysis as data: what can make a kernel slow, in words.
/// Place in the chain: rules.def -> [rules] -> timing's advice, docs.
#pragma once

#include <cstddef>
#include <string_view>

namespace membound::vgpu::counters {

/// One row of rules.def.
struct RuleInfo {
  std::string_view name;
  std::string_view fault;
  std::string_view counter;  ///< a row of counters.def
  std::string_view remedy;   ///< an order
  std::string_view handout;
  std::string_view section;
};

/// All rules, in the order of rules.def.
inline constexpr RuleInfo kRules[] = {
#define MEMBOUND_RULE(id, name, fault, counter, remedy, handout, section) \
  {name, fault, #counter, remedy, handout, section},
#include "grader/vgpu/counters/rules.def"
#undef MEMBOUND_RULE
};

}  // namespace membound::vgpu::counters
