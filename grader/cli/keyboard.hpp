// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Single keys from a terminal, without Enter; and the terminal as it was, whatever happens.
#pragma once

#include <termios.h>

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

}  // namespace membound::cli
