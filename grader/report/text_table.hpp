// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A table as lines of text, no wider than the terminal.
/// Place in the chain: markdown -> [text_table] -> lines.
#pragma once

#include <string>
#include <vector>

#include "grader/report/style.hpp"

namespace membound::report {

/// A cell of a table.
struct Cell {
  std::string text;
  bool right = false;  ///< stands at its column's right edge
};

/// The rows, of which the first is the head. Columns are as wide as their widest cell; where the
/// row would be wider than `style`, the widest columns get less, and their cells several lines.
[[nodiscard]] std::string text_table(const std::vector<std::vector<Cell>>& rows,
                                     const Style& style);

}  // namespace membound::report
