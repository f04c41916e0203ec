// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A terminal as one page: text from the top, keys in the last row. A page is written in one go
/// over the one before, row by row, so that nothing flickers. And single keys without Enter.
#pragma once

#include <termios.h>

#include <string>
#include <string_view>

namespace membound::cli {

/// While it lives, keys arrive at once and are not shown. Does nothing where standard input is no
/// terminal. Ctrl-C stays a signal.
class Keyboard {
 public:
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;

  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  /// The file descriptor to wait on, or -1.
  [[nodiscard]] int descriptor() const;
  /// A key that was pressed, or 0 at the end of input.
  [[nodiscard]] char read_key() const;

 private:
  bool is_terminal_ = false;
  termios before_{};
};

/// How much a terminal shows.
struct ScreenSize {
  int rows = 24;
  int columns = 80;

  /// Of standard output; 24 rows of 80 columns where the terminal does not say.
  [[nodiscard]] static ScreenSize now();
};

/// The beginning of `line` that takes at most `columns`. Codes for colours take none, and are
/// ended.
[[nodiscard]] std::string cut_to(std::string_view line, int columns);

/// `text` with lines wrapped that are wider than `columns`; those of source, which are indented,
/// stay as they are.
[[nodiscard]] std::string with_long_lines_wrapped(std::string_view text, int columns);

/// `size.rows` rows: `text` from its row `first` on, what is left of it in a row of its own, and
/// `keys`. Each row is cut to the screen's width, none ends with a newline but by one before the
/// next.
[[nodiscard]] std::string screen_page(std::string_view text, std::string_view keys, int first,
                                      ScreenSize size);

/// `page` with the codes that write it over the page before, and the cursor at its last row.
[[nodiscard]] std::string over_the_last(std::string_view page);

/// Rows of `text` that a page shows where it is longer than the screen.
[[nodiscard]] int rows_for_text(ScreenSize size);

/// From now on a change of the window's size ends a poll() and is known to resized().
void catch_resizes();
/// Whether the size changed since the last call.
[[nodiscard]] bool resized();

}  // namespace membound::cli
