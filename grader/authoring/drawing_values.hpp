// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Sums and texts with names in them, as descriptions of figures have them: "30 + 32 * col",
/// "{row}, {col}". Place in the chain: a figure's description -> [drawing_values] -> drawing_board.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::authoring {

/// A range of values laid over a range of pixels.
struct Scale {
  double first_pixel = 0, last_pixel = 1, first = 0, last = 1;
  bool logarithmic = false;
  [[nodiscard]] double pixel_of(double value) const;
};

/// What the names of a description stand for.
struct Names {
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> words;
  std::map<std::string, std::vector<double>> lists;  ///< list(i): its element i, from 0 on
  std::map<std::string, Scale> scales;               ///< scale(v): the pixel of the value v
};

/// The value of a sum of numbers, names, `list(i)`, `scale(v)`, min(a, b), max(a, b) and
/// parentheses. Operators, loosest first: || && == != <= >= < > + - ^ * // / %; `^` is the
/// exclusive or, `//` and `%` round towards minus infinity.
[[nodiscard]] base::Result<double> value_of(const std::string& sum, const Names& names);

/// `text` with each {word} and {sum} replaced by what it stands for.
[[nodiscard]] base::Result<std::string> filled_in(const std::string& text, const Names& names);

}  // namespace membound::authoring
