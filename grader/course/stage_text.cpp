// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/stage_text.hpp"

#include <algorithm>
#include <charconv>

namespace membound::course {

int stage_of_head(std::string_view line) {
  constexpr std::string_view kHead = "// Stage ";
  if (!line.starts_with(kHead)) return 0;
  int number = 0;
  std::from_chars(line.data() + kHead.size(), line.data() + line.size(), number);
  return number;
}

std::string stage_text(std::string_view kernel, int stage) {
  const std::string_view whole = kernel;
  std::string text;
  int current = 0;
  bool has_heads = false;
  while (!kernel.empty()) {
    const auto end = std::min(kernel.find('\n'), kernel.size() - 1) + 1;
    const std::string_view line = kernel.substr(0, end);
    if (const int head = stage_of_head(line); head != 0) {
      current = head;
      has_heads = true;
    }
    if (current == stage) text += line;
    kernel.remove_prefix(end);
  }
  return has_heads ? text : std::string(whole);
}

}  // namespace membound::course
