// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Text for a terminal: words and numbers as people read them, wrapped, padded, with units;
/// colours and signs that the terminal has; tables; two texts line by line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace membound::report {

/// Columns that UTF-8 text takes, one per code point.
[[nodiscard]] std::size_t columns(std::string_view text);

/// The beginning of `text` that takes at most `limit` columns.
[[nodiscard]] std::string_view first_columns(std::string_view text, std::size_t limit);

/// `text` with spaces after it up to `width` columns; longer text is cut and ends in "…" (or ".").
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, each after `indent` spaces. Line ends of `text` stay, so that
/// pictures and compiler output keep their shape; only longer lines are broken, at spaces, and go
/// on at the depth they started with. Ends with a newline unless empty.
[[nodiscard]] std::string wrapped(std::string_view text, int width, int indent);

/// 12345.6 -> "12,346"; 12.345 -> "12.3"; three digits, thousands apart.
[[nodiscard]] std::string number(double value);

/// The same without needless zeros: 32 -> "32", 25.04 -> "25".
[[nodiscard]] std::string amount(double value);

/// Bytes as an address of a page has them, "data:image/png;base64,…".
[[nodiscard]] std::string base64(std::string_view bytes);

/// Bytes per second as "3,580 GB/s", operations per second as "24.7 Tops/s".
[[nodiscard]] std::string speed(double per_second, course::Bound bound);

/// Nanoseconds as "820 ns", "13.1 us", "2.13 ms" or "1.20 s".
[[nodiscard]] std::string duration(double ns);

/// "a, b and c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

/// Points without needless digits: "10", "7.5".
[[nodiscard]] std::string points(double value);

// Colour stands only on a terminal, signs beyond ASCII only in a UTF-8 locale, and lines are no
// wider than 80 columns.

/// What a text means; the style decides how that looks.
enum class Tone { kPlain, kGood, kBad, kWarning, kFaint, kStrong };

struct Style {
  bool colour = false;
  bool unicode = false;
  int width = 80;  ///< columns, 20 to 80

  /// For the file descriptor `fd`: colour if it is a terminal and neither NO_COLOR nor TERM=dumb
  /// says otherwise; the terminal's width up to 80; UTF-8 as LC_ALL, LC_CTYPE or LANG say.
  [[nodiscard]] static Style for_stream(int fd);

  /// `text` in the colours of `tone`, or as it is.
  [[nodiscard]] std::string paint(std::string_view text, Tone tone) const;
  /// "✓" or "+", "✗" or "x", "·" or "-": the sign of something good, bad or left out.
  [[nodiscard]] std::string sign(Tone tone) const;
  /// "–" or "-".
  [[nodiscard]] std::string_view dash() const { return unicode ? "–" : "-"; }
};

/// A cell of a table.
struct Cell {
  std::string text;
  bool right = false;  ///< stands at its column's right edge
};

/// The rows, of which the first is the head. Columns are as wide as their widest cell; where the
/// row would be wider than `style`, the widest columns get less, and their cells several lines.
[[nodiscard]] std::string text_table(const std::vector<std::vector<Cell>>& rows,
                                     const Style& style);

/// "-" before lines that only `mine` has, "+" before those that only `other` has, a space before
/// those of both. The fewest changes that turn one into the other.
[[nodiscard]] std::string line_diff(std::string_view mine, std::string_view other,
                                    const Style& style);

}  // namespace membound::report
