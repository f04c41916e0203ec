// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/text.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/course/grade.hpp"

namespace membound::report {
namespace {

bool continues_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

// The longest prefix of `text` that takes at most `limit` columns.
std::size_t bytes_of_columns(std::string_view text, std::size_t limit) {
  std::size_t seen = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    if (continues_code_point(text[i])) continue;
    if (seen == limit) break;
    ++seen;
  }
  return i;
}

std::string with_format(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

void wrap_line(std::string_view line, int width, int indent, std::string& out) {
  const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t depth = static_cast<std::size_t>(indent) + first;
  const std::size_t room = std::max<std::size_t>(
      20, static_cast<std::size_t>(width) - std::min<std::size_t>(depth, width));
  std::string_view rest = line.substr(first);
  do {
    std::size_t take = bytes_of_columns(rest, room);
    if (take < rest.size()) {
      const std::size_t space = rest.substr(0, take + 1).rfind(' ');
      if (space != std::string_view::npos && space > 0) take = space;
    }
    out += std::string(rest.empty() ? 0 : depth, ' ') + std::string(rest.substr(0, take)) + "\n";
    rest.remove_prefix(take);
    rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  } while (!rest.empty());
}

}  // namespace

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_code_point(c); }));
}

std::string_view first_columns(std::string_view text, std::size_t limit) {
  return text.substr(0, bytes_of_columns(text, limit));
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t taken = columns(text);
  if (taken <= width) return std::string(text) + std::string(width - taken, ' ');
  return std::string(first_columns(text, width - 1)) + ".";
}

std::string wrapped(std::string_view text, int width, int indent) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    wrap_line(text.substr(0, end), width, indent, out);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string number(double value) {
  if (std::abs(value) < 9.995) return with_format("%.2f", value);
  if (std::abs(value) < 99.95) return with_format("%.1f", value);
  std::string digits = with_format("%.0f", value);
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string amount(double value) {
  std::string text = number(value);
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += at + i > bytes.size() ? '=' : kDigits[group >> (18 - 6 * i) & 63];
  }
  return text;
}

std::string speed(double per_second, course::Bound bound) {
  if (bound == course::Bound::kBandwidth) return number(per_second / 1e9) + " GB/s";
  if (per_second >= 1e12) return number(per_second / 1e12) + " Tops/s";
  return number(per_second / 1e9) + " Gops/s";
}

std::string duration(double ns) {
  if (ns < 1e3) return number(ns) + " ns";
  if (ns < 1e6) return number(ns / 1e3) + " us";
  if (ns < 1e9) return number(ns / 1e6) + " ms";
  return number(ns / 1e9) + " s";
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " and " : ", ";
    text += words[i];
  }
  return text;
}

std::string points(double value) { return course::short_decimal(value); }

namespace {

constexpr std::size_t kColumnGap = 2;  ///< columns between cells

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    longest = std::max(longest, columns(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

/// Takes columns from the widest ones, one by one, as long as they have more than `least`.
void shrink(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least,
            std::size_t room) {
  while (std::accumulate(widths.begin(), widths.end(), std::size_t{0}) > room) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least[i] && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    if (widest == nullptr) return;
    --*widest;
  }
}

/// `text` in lines of at most `width` columns, broken at spaces, and inside of words that are
/// longer.
std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t taken = columns(lines.back());
    if (taken > 0 && taken + 1 + columns(word) <= width) {
      lines.back() += " " + std::string(word);
      continue;
    }
    if (taken > 0) lines.emplace_back();
    for (; columns(word) > width; lines.emplace_back()) {
      lines.back() = first_columns(word, width);
      word.remove_prefix(lines.back().size());
    }
    lines.back() = word;
  }
  return lines;
}

}  // namespace

std::string text_table(const std::vector<std::vector<Cell>>& rows, const Style& style) {
  std::vector<std::size_t> widths, words;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    words.resize(widths.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns(row[i].text));
      words[i] = std::max(words[i], longest_word(row[i].text));
    }
  }
  const std::size_t gaps = widths.empty() ? 0 : kColumnGap * (widths.size() - 1);
  const std::size_t room =
      std::max<std::size_t>(static_cast<std::size_t>(style.width), gaps) - gaps;
  shrink(widths, words, room);
  shrink(widths, std::vector<std::size_t>(widths.size(), 1), room);

  const bool shrunk = std::ranges::any_of(rows, [&](const auto& row) {
    for (std::size_t i = 0; i < row.size(); ++i)
      if (columns(row[i].text) > widths[i]) return true;
    return false;
  });
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 0;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      cells.push_back(lines_of(rows[r][i].text, widths[i]));
      height = std::max(height, cells.back().size());
    }
    // Where cells have several lines, an empty one shows where a row ends.
    if (shrunk && r > 1) out += "\n";
    for (std::size_t at = 0; at < height; ++at) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string text = at < cells[i].size() ? cells[i][at] : "";
        const std::string space(widths[i] - columns(text), ' ');
        line += (i > 0 ? std::string(kColumnGap, ' ') : "") +
                (rows[r][i].right ? space + text : text + space);
      }
      while (line.ends_with(' ')) line.pop_back();
      out += style.paint(line, r == 0 ? Tone::kStrong : Tone::kPlain) + "\n";
    }
  }
  return out;
}

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

std::string line_diff(std::string_view mine, std::string_view other, const Style& style) {
  const auto a = base::lines_of(mine), b = base::lines_of(other);
  // common[i][j]: the longest common row of lines of a from i on and b from j on. A stage has some
  // hundred lines, so the table is small.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string text;
  const auto add = [&](const char* sign, std::string_view line, Tone tone) {
    text += style.paint(sign + std::string(line), tone) + "\n";
  };
  for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      add("  ", a[i], Tone::kPlain);
      ++i, ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      add("- ", a[i++], Tone::kBad);
    } else {
      add("+ ", b[j++], Tone::kGood);
    }
  }
  return text;
}

}  // namespace membound::report
