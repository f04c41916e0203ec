// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/stage_text.hpp"

#include <algorithm>
#include <charconv>

namespace membound::course {
namespace {

/// Bytes from a stage's head to the next one.
struct Place {
  std::size_t start, end;
};

/// Nothing where the stage has no head, or several.
std::optional<Place> place_of(std::string_view kernel, int stage) {
  std::optional<Place> place;
  bool inside = false;
  for (std::size_t at = 0; at < kernel.size();) {
    const std::size_t end = std::min(kernel.find('\n', at), kernel.size() - 1) + 1;
    if (const int head = stage_of_head(kernel.substr(at, end - at)); head != 0) {
      inside = head == stage;
      if (inside && place) return std::nullopt;
      if (inside) place = Place{at, end};
    }
    if (inside) place->end = end;
    at = end;
  }
  return place;
}

}  // namespace

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

int stage_of_line(std::string_view kernel, int line) {
  int stage = 0;
  for (int i = 0; i < line && !kernel.empty(); ++i) {
    const std::size_t end = std::min(kernel.find('\n'), kernel.size() - 1) + 1;
    if (const int head = stage_of_head(kernel.substr(0, end)); head != 0) stage = head;
    kernel.remove_prefix(end);
  }
  return stage;
}

std::optional<std::string> with_stage_of(std::string_view kernel, std::string_view source,
                                         int stage) {
  const auto place = place_of(kernel, stage), other = place_of(source, stage);
  if (!place || !other) return std::nullopt;
  std::string part(source.substr(other->start, other->end - other->start));
  // What comes behind it begins a line of its own.
  if (!part.ends_with('\n')) part += '\n';
  return std::string(kernel.substr(0, place->start)) + part +
         std::string(kernel.substr(place->end));
}

}  // namespace membound::course
