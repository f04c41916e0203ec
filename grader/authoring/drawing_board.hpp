// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the shapes of a drawn figure share: sums and texts with names in them, the picture and
/// where texts stand on it, the first mistake, and the fields of one shape of a description.
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/report/svg.hpp"

namespace membound::authoring {

// Sums and texts with names in them, as descriptions of figures have them: "30 + 32 * col",
// "{row}, {col}".

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

// The picture: names and origin, the first mistake, and where texts stand, so that none leaves
// the picture or runs into another.

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

  /// From here to end_step() for one of the pictures that a page plays in turn; `still`: the one
  /// that is seen where nothing plays. Texts of two such pictures may stand at one place.
  void begin_step(bool still);
  void end_step();

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
  std::size_t outside_ = 0;  ///< of these, texts outside of the step
};

// The fields of one shape: each is read by its name, and one that no shape asks for is a
// mistake.

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
