// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The fields of one shape in a figure's description: each is read by its name, and one that no
/// shape asks for is a mistake. Place in the chain: drawing_shapes, drawing -> [drawing_fields] ->
/// drawing_board.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "grader/authoring/drawing_board.hpp"

namespace membound::authoring {

/// A map of a description. Without a fallback a field must be there.
class Fields {
 public:
  /// `what` is in the messages: "box".
  Fields(const YAML::Node& map, std::string what, Board& board);

  [[nodiscard]] YAML::Node node(const std::string& name);
  [[nodiscard]] YAML::Node needed(const std::string& name);
  /// The node of a field that is a map or, if `is_list`, a list; an empty one where it is not
  /// there.
  [[nodiscard]] YAML::Node several(const std::string& name, bool is_list = false);
  [[nodiscard]] bool has(const std::string& name) { return node(name).IsDefined(); }
  [[nodiscard]] double number(const std::string& name);
  [[nodiscard]] double number(const std::string& name, double fallback);
  /// Two numbers, "[x, y]", as they stand there.
  [[nodiscard]] Point pair(const std::string& name);
  [[nodiscard]] Point pair(const std::string& name, Point fallback);
  /// A place of the picture: a pair from the board's origin on.
  [[nodiscard]] Point place(const std::string& name);
  [[nodiscard]] std::string text(const std::string& name, const std::string& fallback);
  /// One text, or a list of lines.
  [[nodiscard]] std::vector<std::string> lines(const std::string& name);
  [[nodiscard]] const YAML::Node& map() const { return map_; }
  /// Complains of fields that nobody has read.
  void finish();

 private:
  YAML::Node map_;
  std::string what_;
  Board& board_;
  std::set<std::string> asked_;
};

/// "[x, y]" as two sums.
[[nodiscard]] Point pair_of(const YAML::Node& node, Board& board);

}  // namespace membound::authoring
