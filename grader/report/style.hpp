// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How text may look where it goes: colour only on a terminal, signs beyond ASCII only in a UTF-8
/// locale, lines no wider than 80 columns.
/// Place in the chain: environment, file descriptor -> [style] -> every renderer.
#pragma once

#include <string>
#include <string_view>

namespace membound::report {

/// What a piece of text means; the style decides how that looks.
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

}  // namespace membound::report
