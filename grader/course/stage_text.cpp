// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/stage_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <utility>

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

using Names = std::set<std::string_view>;

/// The words of code without its comments.
struct Words {
  Names all;      ///< those in a string, too: a plan names its kernels so
  Names defined;  ///< outside of all brackets, and before a sign that a definition goes on with
};

Words words_of(std::string_view code) {
  Words words;
  int depth = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code.substr(at).starts_with("//")) {
      at = std::min(code.find('\n', at), code.size() - 1);
    } else if (code[at] == '(' || code[at] == '{') {
      ++depth;
    } else if (code[at] == ')' || code[at] == '}') {
      --depth;
    } else if (std::isalpha(static_cast<unsigned char>(code[at])) != 0 || code[at] == '_') {
      const auto is_of_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
      const auto end =
          std::find_if_not(code.begin() + static_cast<std::ptrdiff_t>(at), code.end(), is_of_word);
      const std::string_view word(code.begin() + static_cast<std::ptrdiff_t>(at), end);
      at += word.size() - 1;
      words.all.insert(word);
      const auto next = code.find_first_not_of(" \n", at + 1);
      if (depth == 0 && next != std::string_view::npos &&
          std::string_view("(=[{;:").find(code[next]) != std::string_view::npos)
        words.defined.insert(word);
    }
  }
  return words;
}

/// Whether `later` uses what `earlier` defines. What both have outside of brackets is no name of
/// either: nothing is defined twice.
bool uses(const Words& later, const Words& earlier) {
  return std::any_of(earlier.defined.begin(), earlier.defined.end(), [&](std::string_view name) {
    return later.all.contains(name) && !later.defined.contains(name);
  });
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
  // What comes after it begins a line of its own.
  if (!part.ends_with('\n')) part += '\n';
  return std::string(kernel.substr(0, place->start)) + part +
         std::string(kernel.substr(place->end));
}

std::string without_other_stages(std::string_view kernel, int stage) {
  std::map<int, std::string> parts;
  int head = 0;
  for (std::size_t at = 0; at < kernel.size();) {
    const std::size_t end = std::min(kernel.find('\n', at), kernel.size() - 1) + 1;
    if (const int next = stage_of_head(kernel.substr(at, end - at)); next != 0) head = next;
    parts[head] += kernel.substr(at, end - at);
    at = end;
  }
  std::set<int> needed = {0, stage};
  for (int earlier = stage - 1; earlier > 0; --earlier)
    for (const int one : std::set<int>(needed))
      if (one > earlier && uses(words_of(parts[one]), words_of(parts[earlier])))
        needed.insert(earlier);
  std::string text;
  for (const auto& [number, part] : parts)
    text += needed.contains(number)
                ? part
                : std::string(static_cast<std::size_t>(std::count(part.begin(), part.end(), '\n')),
                              '\n');
  return text;
}

}  // namespace membound::course
