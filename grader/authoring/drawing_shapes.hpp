// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The shapes that figures are made of, a function each.
/// Place in the chain: drawing -> [drawing_shapes] -> drawing_fields, drawing_board.
#pragma once

#include <string_view>
#include <vector>

#include "grader/authoring/drawing_fields.hpp"

namespace membound::authoring {

/// One kind of shape: its name in a description, and what draws it.
struct Shape {
  std::string_view name;
  void (*draw)(Fields& fields, Board& board);
};

/// All but `draw`, which is a list of statements.
[[nodiscard]] const std::vector<Shape>& shapes();

}  // namespace membound::authoring
