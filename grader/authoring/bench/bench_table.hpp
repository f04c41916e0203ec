// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What was measured, as a Markdown table and as JSON.
/// Place in the chain: bench_main -> [bench_table]. Decides nothing, measures nothing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/authoring/bench/contest.hpp"

namespace membound::authoring {

/// A contest that was held.
struct Held {
  std::string title;
  std::string unit;
  std::vector<Contestant> contestants;
  std::vector<Outcome> outcomes;  ///< in the contestants' order
};

/// One table: a row per contestant, with its share of the (first) ceiling's and library's speed.
[[nodiscard]] std::string markdown(const Held& held);

/// {"title", "unit", "rows": […]}
[[nodiscard]] nlohmann::json to_json(const Held& held);

}  // namespace membound::authoring
