// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/lines.hpp"

#include <fstream>

namespace membound::authoring {

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view comment_of(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with("//") || line.starts_with("///")) return {};
  return trimmed(line.substr(2));
}

}  // namespace membound::authoring
