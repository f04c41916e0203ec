// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/source_excerpt.hpp"

#include <algorithm>

#include "grader/base/printable.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

constexpr std::size_t kNumberWidth = 6;

/// Where the code of a line ends: before its comment and the spaces in front of that.
std::size_t end_of_code(std::string_view line) {
  const std::string_view code = line.substr(0, line.find("//"));
  return code.find_last_not_of(" \t\r") + 1;
}

}  // namespace

std::string source_excerpt(const SourceText& source, int line, int column, int width) {
  if (line < 1 || static_cast<std::size_t>(line) > source.size()) return "";
  std::string text = source[static_cast<std::size_t>(line) - 1];
  std::replace(text.begin(), text.end(), '\t', ' ');  // one column each, as compilers count
  const std::size_t first = text.find_first_not_of(" \r");
  if (first == std::string::npos) return "";
  const std::size_t at =
      column > 0 ? std::min(static_cast<std::size_t>(column) - 1, text.size()) : first;
  std::string mark = std::string(columns(text.substr(0, at)), ' ') + "^";
  const std::size_t end = end_of_code(text);
  if (column == 0 && end > at + 1)
    mark += std::string(columns(text.substr(at + 1, end - at - 1)), '~');
  const std::string number = std::to_string(line);
  const std::string left(kNumberWidth - std::min(kNumberWidth, number.size()), ' ');
  const auto room = static_cast<std::size_t>(std::max(20, width)) - kNumberWidth - 3;
  const auto cut = [&](const std::string& whole) {
    return std::string(first_columns(whole, room));
  };
  return left + number + " | " + cut(base::printable(text)) + "\n" +
         std::string(kNumberWidth, ' ') + " | " + cut(mark) + "\n";
}

}  // namespace membound::report
