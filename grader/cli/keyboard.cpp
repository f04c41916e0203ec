// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/keyboard.hpp"

#include <unistd.h>

namespace membound::cli {

Keyboard::Keyboard() {
  if (isatty(STDIN_FILENO) == 0 || tcgetattr(STDIN_FILENO, &before_) != 0) return;
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  raw.c_cc[VMIN] = 1;
  raw.c_cc[VTIME] = 0;
  is_terminal_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
}

Keyboard::~Keyboard() {
  if (is_terminal_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

int Keyboard::descriptor() const { return is_terminal_ ? STDIN_FILENO : -1; }

char Keyboard::read_key() const {
  char key = 0;
  return read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
}

}  // namespace membound::cli
