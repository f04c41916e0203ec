// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Two texts as one list of lines: what only one of them has, and what both have.
/// Place in the chain: kernel.cu, reference answer -> [line_diff] -> `membound solution`.
#pragma once

#include <string>
#include <string_view>

#include "grader/report/style.hpp"

namespace membound::report {

/// "-" before lines that only `mine` has, "+" before those that only `other` has, a space before
/// those of both. The fewest changes that turn one into the other.
[[nodiscard]] std::string line_diff(std::string_view mine, std::string_view other,
                                    const Style& style);

}  // namespace membound::report
