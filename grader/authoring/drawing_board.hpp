// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the shapes of a drawn figure share: the picture, names and origin, the first mistake, and
/// where texts stand, so that none leaves the picture or runs into another. Place in the chain:
/// drawing_shapes -> [drawing_board] -> report/svg, drawing_values.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/authoring/drawing_values.hpp"
#include "grader/report/svg.hpp"

namespace membound::authoring {

/// Pixels from the picture's upper left corner; also a width and a height.
struct Point {
  double x = 0, y = 0;
};

/// A text as it is drawn.
struct Label {
  Point at;
  double size = 12;
  std::string look = "ink";      ///< a role, and "bold" or "mono"
  std::string anchor = "start";  ///< or middle, end
  bool upward = false;           ///< read from below
};

/// The colours of the roles that a picture uses, as CSS: light page, dark page.
[[nodiscard]] std::string css_of(const std::set<std::string>& roles);
/// Whether drawing_looks.def has this role.
[[nodiscard]] bool is_role(const std::string& name);
/// About how wide `text` is in the pictures' font, pixels.
[[nodiscard]] double width_of(const std::string& text, double size, const std::string& look);

/// A picture as it is being drawn. A mistake does not stop drawing; the first one is kept.
class Board {
 public:
  explicit Board(Point size) : size_(size) {}

  Names names;   ///< of the statement that is being drawn
  Point origin;  ///< where its (0, 0) is
  report::Svg svg{0, "", ""};

  /// Remembers the first mistake, and the line of the description it is at.
  void complain(const YAML::Node& where, std::string found, std::string expected);
  [[nodiscard]] const std::optional<base::Error>& mistake() const { return mistake_; }

  /// The value of a sum; 0 after a mistake.
  [[nodiscard]] double number(const YAML::Node& sum);
  /// A text with its names filled in.
  [[nodiscard]] std::string text(const YAML::Node& node);

  /// The class of "ROLE MODIFIER ...": `kind` is box, line or text; the role must be in
  /// drawing_looks.def.
  [[nodiscard]] std::string look(const YAML::Node& where, const std::string& words,
                                 const std::string& kind);
  /// Draws a text; complains where it is too small, leaves the picture or runs into another.
  void label(const YAML::Node& where, const Label& label, const std::string& text);

  [[nodiscard]] const std::set<std::string>& roles() const { return roles_; }

 private:
  struct Extent {
    double left, top, right, bottom;
    std::string text;
  };

  Point size_;
  std::optional<base::Error> mistake_;
  std::set<std::string> roles_;
  std::vector<Extent> extents_;
};

}  // namespace membound::authoring
