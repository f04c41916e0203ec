// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

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

std::string points(double value) {
  std::string text = with_format("%.2f", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace membound::report
