// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Text as lines, as lists of words, as something safe to show, as numbers and numbers of things
/// ("1 wavefront", "2 wavefronts"); and the known word that is nearest to a mistyped one.
/// printable() has a source of its own, because it needs Unicode's tables.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace membound::base {

/// Without their ends; no empty one after the last end.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// `text` without spaces, tabs and ends of lines at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// Valid UTF-8 without control characters but line feed and tab, without escape sequences, and
/// without characters that have no width or turn the direction of writing. Such a character becomes
/// "\x1b" or "\u{202e}", a byte that is no UTF-8 "\xff"; a carriage return before a line feed is
/// left out. Printable text stays as it is.
[[nodiscard]] std::string printable(std::string_view text);

/// With a point: decimal(0.5, 2) is "0.50".
[[nodiscard]] std::string decimal(double value, int digits);

/// The noun that stands after `count`: "byte", "bytes"; "launches", "accesses", "entries". `noun`
/// is in the singular, and may have words before it: "more kernel".
[[nodiscard]] inline std::string noun_after(double count, std::string_view noun) {
  std::string text(noun);
  if (count == 1) return text;
  if (text.ends_with("ry")) return text.replace(text.size() - 1, 1, "ies");
  return text + (text.ends_with("ch") || text.ends_with("s") ? "es" : "s");
}

/// "1 byte", "2 bytes".
[[nodiscard]] std::string counted(std::integral auto count, std::string_view noun) {
  return std::to_string(count) + " " + noun_after(static_cast<double>(count), noun);
}

/// Adds `word` to a list of words; `between` stands before it unless the list is empty.
inline void add_word(std::string& list, std::string_view word, std::string_view between = ", ") {
  if (!list.empty()) list += between;
  list += word;
}

/// All of `words` as such a list.
template <typename Words>
[[nodiscard]] std::string joined(const Words& words, std::string_view between = ", ") {
  std::string list;
  for (const auto& word : words) add_word(list, word, between);
  return list;
}

/// Adds what `more` says, if anything, to a note: after a semicolon where that says something.
inline void add_note(std::string& note, std::string_view more) {
  if (!more.empty()) add_word(note, more, "; ");
}

/// How many single-letter insertions, deletions, replacements and swaps of neighbours turn `from`
/// into `to` (optimal string alignment distance).
[[nodiscard]] int edit_distance(std::string_view from, std::string_view to);

/// The candidate with the smallest distance, if it is near enough to be a typo: at most a third of
/// the longer word. The first of equals wins.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);

}  // namespace membound::base
