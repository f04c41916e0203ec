// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/strings.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "grader/base/digest.hpp"

namespace membound::base {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

namespace {

/// Controls, and what is invisible or changes how its neighbours look. The variation selectors of
/// the first plane stay: they choose between a letter's and an emoji's look.
bool is_hidden(utf8proc_int32_t character) {
  if (character == '\n' || character == '\t') return false;
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return true;
    default:
      const bool is_noncharacter = (character & 0xFFFE) == 0xFFFE;
      const bool is_selector = character >= 0xFE00 && character <= 0xFE0F;
      return is_noncharacter || (utf8proc_get_property(character)->ignorable && !is_selector);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  std::array<char, 16> escape{};
  while (!text.empty()) {
    utf8proc_int32_t character = 0;
    const auto bytes = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &character);
    const std::size_t taken = bytes > 0 ? static_cast<std::size_t>(bytes) : 1;
    if (bytes <= 0 || (character < 0x80 && is_hidden(character) && !text.starts_with("\r\n"))) {
      std::snprintf(escape.data(), escape.size(), "\\x%02x", static_cast<unsigned char>(text[0]));
      shown += escape.data();
    } else if (character >= 0x80 && is_hidden(character)) {
      std::snprintf(escape.data(), escape.size(), "\\u{%04x}", static_cast<unsigned>(character));
      shown += escape.data();
    } else if (character != '\r') {
      shown += text.substr(0, taken);
    }
    text.remove_prefix(taken);
  }
  return shown;
}

namespace {

/// Enough of a digest to keep long names apart.
constexpr std::size_t kDigestLetters = 16;

}  // namespace

std::string decimal(double value, int digits) {
  std::array<char, 400> text{};  // the largest double has 309 digits before the point
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::fixed, digits);
  return {text.data(), end.ptr};
}

std::string file_name(std::string_view text) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string name;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos && !(c == '.' && name.empty())) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  if (name.size() > kMostFileNameBytes)
    name = name.substr(0, kMostFileNameBytes) + "-" + sha256(text).substr(0, kDigestLetters);
  return name.empty() ? "%" : name;
}

int edit_distance(std::string_view from, std::string_view to) {
  const std::size_t width = to.size() + 1;
  std::vector<int> table((from.size() + 1) * width);
  const auto cell = [&](std::size_t i, std::size_t j) -> int& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= from.size(); ++i) cell(i, 0) = static_cast<int>(i);
  for (std::size_t j = 0; j <= to.size(); ++j) cell(0, j) = static_cast<int>(j);
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const int replace = cell(i - 1, j - 1) + (from[i - 1] == to[j - 1] ? 0 : 1);
      cell(i, j) = std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, replace});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
    }
  }
  return cell(from.size(), to.size());
}

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  int best_distance = 0;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(word, candidate);
    const auto limit = static_cast<int>(std::max(word.size(), candidate.size()) / 3);
    if (distance <= limit && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace membound::base
