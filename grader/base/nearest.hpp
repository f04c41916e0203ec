// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// "Did you mean …?": the known name nearest to a mistyped one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace membound::base {

/// How many single-letter insertions, deletions, replacements and swaps of neighbours turn `from`
/// into `to` (optimal string alignment distance).
[[nodiscard]] int edit_distance(std::string_view from, std::string_view to);

/// The candidate with the smallest distance, if it is near enough to be a typo: at most a third of
/// the longer word. The first of equals wins.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

}  // namespace membound::base
