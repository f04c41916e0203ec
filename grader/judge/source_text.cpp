// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/source_text.hpp"

#include <algorithm>
#include <sstream>
#include <system_error>

namespace membound::judge {
namespace {

/// Begins with the mark of one of the two orders of bytes, or has a zero in every other byte.
bool is_utf16(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
  constexpr std::size_t kEnough = 16;
  if (bytes.size() < kEnough) return false;
  const auto zeros_from = [&](std::size_t first) {
    for (std::size_t i = first; i < kEnough; i += 2)
      if (bytes[i] != '\0') return false;
    return true;
  };
  return zeros_from(0) != zeros_from(1);
}

/// Control characters but for those that space text out, and that of colours in a terminal.
bool is_no_text(char byte) {
  const auto code = static_cast<unsigned char>(byte);
  constexpr unsigned char kEscape = 0x1B, kDelete = 0x7F;
  if (code == kDelete) return true;
  return code < ' ' && (code < '\t' || code > '\r') && code != kEscape;
}

/// Of `#include "NAME"` the name, if it names a file and no folder.
std::string included(std::string_view line) {
  const auto skip = [&](std::string_view word) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos || !line.substr(begin).starts_with(word)) return false;
    line.remove_prefix(begin + word.size());
    return true;
  };
  if (!skip("#") || !skip("include") || !skip("\"")) return "";
  const std::string_view name = line.substr(0, line.find('"'));
  return name.find('/') == std::string_view::npos ? std::string(name) : "";
}

}  // namespace

std::string why_not_text(std::string_view bytes) {
  if (is_utf16(bytes))
    return "kernel.cu is UTF-16, and compilers read UTF-8. Save it with the encoding UTF-8.";
  const auto bad = std::find_if(bytes.begin(), bytes.end(), is_no_text);
  if (bad == bytes.end()) return "";
  const auto line = 1 + std::count(bytes.begin(), bad, '\n');
  const auto place = 1 + (bad - bytes.begin());
  return "kernel.cu is no text: of its " + std::to_string(bytes.size()) + " bytes number " +
         std::to_string(place) + ", in line " + std::to_string(line) + ", is a byte " +
         std::to_string(static_cast<int>(*bad)) +
         ", which no text has. Hand in the source as your editor saves it, not what a program made "
         "of it.";
}

std::string notes_on_headers(const std::filesystem::path& source, std::string_view text) {
  std::string notes;
  std::istringstream lines{std::string(text)};
  int number = 1;
  for (std::string line; std::getline(lines, line); ++number) {
    const std::string name = included(line);
    std::error_code ignored;
    if (name.empty() || name == "kernel.cuh" ||
        !std::filesystem::exists(source.parent_path() / name, ignored))
      continue;
    notes +=
        source.filename().string() + ":" + std::to_string(number) + ": note: \"" + name +
        "\" lies in your folder alone, and only this file is handed in: put what it has here\n";
  }
  return notes;
}

}  // namespace membound::judge
