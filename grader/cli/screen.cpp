// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/screen.hpp"

#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/report/text.hpp"

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

namespace {

constexpr int kFewestRows = 4, kFewestColumns = 20;
constexpr std::string_view kPlain = "\033[0m";

// A signal handler can reach nothing else.
std::atomic<bool> size_changed = false;

/// Bytes of a code for colours at the beginning of `text`; 0 where there is none.
std::size_t code_length(std::string_view text) {
  if (!text.starts_with("\033[")) return 0;
  const auto end = text.find('m');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

ScreenSize ScreenSize::now() {
  ScreenSize size;
  winsize told{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) != 0 || told.ws_row == 0 || told.ws_col == 0)
    return size;
  return {std::max<int>(told.ws_row, kFewestRows), std::max<int>(told.ws_col, kFewestColumns)};
}

std::string cut_to(std::string_view line, int columns) {
  int taken = 0;
  std::size_t at = 0;
  bool coloured = false;
  while (at < line.size()) {
    if (const std::size_t code = code_length(line.substr(at)); code > 0) {
      coloured = line.substr(at, code) != kPlain;
      at += code;
      continue;
    }
    // Bytes 10xxxxxx continue a code point.
    const bool begins = (static_cast<unsigned char>(line[at]) & 0xC0) != 0x80;
    if (begins && taken == columns) break;
    taken += begins;
    ++at;
  }
  return std::string(line.substr(0, at)) +
         (coloured && at < line.size() ? std::string(kPlain) : "");
}

std::string with_long_lines_wrapped(std::string_view text, int columns) {
  std::string wrapped;
  for (const std::string_view line : base::lines_of(text)) {
    const bool is_long = report::columns(line) > static_cast<std::size_t>(columns);
    if (is_long && !line.starts_with(' ') && line.find('\033') == line.npos)
      wrapped += report::wrapped(line, columns, 0);
    else
      wrapped.append(line).append("\n");
  }
  return wrapped;
}

int rows_for_text(ScreenSize size) { return size.rows - 2; }

std::string screen_page(std::string_view text, std::string_view keys, int first, ScreenSize size) {
  const std::vector<std::string_view> lines = base::lines_of(text);
  const int count = static_cast<int>(lines.size()), room = rows_for_text(size);
  // A text that fits but for the row of what is left has that row, too.
  const bool fits = count <= room + 1;
  first = fits ? 0 : std::clamp(first, 0, count - room);
  std::string page;
  for (int row = 0; row < size.rows - 1; ++row) {
    const int line = first + row;
    const int left = count - first - room;
    if (!fits && row == room)
      page += left > 0 ? cut_to(std::to_string(left) + " more lines: space", size.columns)
                       : std::string("the end; space: from the top");
    else if (line < count)
      page += cut_to(lines[static_cast<std::size_t>(line)], size.columns);
    page += "\n";
  }
  return page + cut_to(keys, size.columns);
}

std::string over_the_last(std::string_view page) {
  constexpr std::string_view kHome = "\033[H", kEndOfRow = "\033[K", kBelow = "\033[J";
  std::string text(kHome);
  for (const char letter : page) {
    if (letter == '\n') text += kEndOfRow;
    text += letter;
  }
  return text + std::string(kEndOfRow) + std::string(kBelow) + "\r";
}

void catch_resizes() {
  struct sigaction action {};
  action.sa_handler = [](int) { size_changed = true; };
  // Calls that wait go on, so that no check notices; poll() ends all the same.
  action.sa_flags = SA_RESTART;
  sigaction(SIGWINCH, &action, nullptr);
}

bool resized() { return size_changed.exchange(false); }

}  // namespace membound::cli
