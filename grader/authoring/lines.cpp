// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/lines.hpp"

#include <fstream>

#include "grader/base/text_lines.hpp"

namespace membound::authoring {

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string_view comment_of(std::string_view line) {
  line = base::trimmed(line);
  if (!line.starts_with("//") || line.starts_with("///")) return {};
  return base::trimmed(line.substr(2));
}

}  // namespace membound::authoring
