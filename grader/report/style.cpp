// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/style.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace membound::report {
namespace {

constexpr int kWidest = 80;
constexpr int kNarrowest = 20;

std::string_view environment(const char* name) {
  const char* value =
      std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before threads start
  return value == nullptr ? std::string_view() : std::string_view(value);
}

bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != std::string_view::npos ||
           value.find("utf8") != std::string_view::npos;
  }
  return false;
}

// The codes of the 8 basic colours, which every terminal's theme keeps readable.
std::string_view code_of(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "\033[32m";
    case Tone::kBad:
      return "\033[31m";
    case Tone::kWarning:
      return "\033[33m";
    case Tone::kFaint:
      return "\033[2m";
    case Tone::kStrong:
      return "\033[1m";
    case Tone::kPlain:
      break;
  }
  return "";
}

}  // namespace

Style Style::for_stream(int fd) {
  Style style;
  const bool terminal = isatty(fd) == 1;
  style.colour = terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.unicode = locale_is_utf8();
  winsize size{};
  if (terminal && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = std::clamp<int>(size.ws_col, kNarrowest, kWidest);
  }
  return style;
}

std::string Style::paint(std::string_view text, Tone tone) const {
  if (!colour || tone == Tone::kPlain) return std::string(text);
  return std::string(code_of(tone)) + std::string(text) + "\033[0m";
}

std::string Style::sign(Tone tone) const {
  switch (tone) {
    case Tone::kGood:
      return paint(unicode ? "✓" : "+", tone);
    case Tone::kBad:
      return paint(unicode ? "✗" : "x", tone);
    case Tone::kWarning:
      return paint("!", tone);
    default:
      return paint(unicode ? "·" : "-", Tone::kFaint);
  }
}

}  // namespace membound::report
