// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A text as lines, and a line without the space around it.
#pragma once

#include <string_view>
#include <vector>

namespace membound::base {

/// Without their ends; no empty one behind the last end.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// `text` without spaces, tabs and ends of lines at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

}  // namespace membound::base
