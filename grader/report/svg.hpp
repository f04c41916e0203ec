// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Writes an SVG picture, shape by shape. Looks come from classes that have one set of colours
/// for a light page and one for a dark one, so a picture fits wherever it is shown.
#pragma once

#include <string>
#include <string_view>

namespace membound::report {

/// The smallest labels of a picture, pixels: what can be read at its natural size.
inline constexpr double kSmallText = 11;

/// `text` with <, >, & and quotes written so that XML and HTML take them for text.
[[nodiscard]] std::string escaped(std::string_view text);

/// 12.5 -> "12.5", 3 -> "3": at most two decimals, no needless zeros.
[[nodiscard]] std::string coordinate(double value);

/// A picture that grows downwards. Lengths are pixels at its natural size.
class Svg {
 public:
  /// `more_looks` are rules of CSS for classes that this kind of picture alone has.
  Svg(double width, std::string title, std::string description, std::string more_looks = "");

  /// More rules of CSS, once it is known which are needed.
  void add_looks(std::string_view looks) { more_looks_ += looks; }

  /// A rectangle of class `look`: page, frame, cell, mark, hatch; `round` is its corners' radius.
  void box(double x, double y, double width, double height, std::string_view look,
           double round = 0);
  /// The same filled with a colour of its own, "#rrggbb".
  void filled(double x, double y, double width, double height, std::string_view colour);
  void line(double x1, double y1, double x2, double y2, std::string_view look);
  /// Lines from point to point, as `d` of SVG has them: "M1 2L3 4".
  void path(std::string_view d, std::string_view look);
  void circle(double x, double y, double radius, std::string_view look);
  /// `anchor` is start, middle or end. `look` is ink, faint, strong, onlight or ondark.
  void text(double x, double y, double size, std::string_view look, std::string_view anchor,
            std::string_view text);
  /// The same, read from below.
  void upward_text(double x, double y, double size, std::string_view look, std::string_view text);
  /// What follows, up to end(), belongs together; tests count these. `hidden` waits for a script.
  void begin(std::string_view look, bool hidden = false);
  void end();

  /// The whole picture. With `standalone` a file of its own, with the license's two lines.
  [[nodiscard]] std::string finish(double height, bool standalone) const;

 private:
  double width_;
  std::string title_, description_, more_looks_, body_;
};

}  // namespace membound::report
