// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/text_table.hpp"

#include <algorithm>
#include <numeric>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

constexpr std::size_t kGap = 2;  ///< columns between cells

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    longest = std::max(longest, columns(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

/// Takes columns from the widest ones, one by one, as long as they have more than `least`.
void shrink(std::vector<std::size_t>& widths, const std::vector<std::size_t>& least,
            std::size_t room) {
  while (std::accumulate(widths.begin(), widths.end(), std::size_t{0}) > room) {
    std::size_t* widest = nullptr;
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least[i] && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    if (widest == nullptr) return;
    --*widest;
  }
}

/// `text` in lines of at most `width` columns, broken at spaces, and inside of words that are
/// longer.
std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t taken = columns(lines.back());
    if (taken > 0 && taken + 1 + columns(word) <= width) {
      lines.back() += " " + std::string(word);
      continue;
    }
    if (taken > 0) lines.emplace_back();
    for (; columns(word) > width; lines.emplace_back()) {
      lines.back() = first_columns(word, width);
      word.remove_prefix(lines.back().size());
    }
    lines.back() = word;
  }
  return lines;
}

}  // namespace

std::string text_table(const std::vector<std::vector<Cell>>& rows, const Style& style) {
  std::vector<std::size_t> widths, words;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    words.resize(widths.size());
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], columns(row[i].text));
      words[i] = std::max(words[i], longest_word(row[i].text));
    }
  }
  const std::size_t gaps = widths.empty() ? 0 : kGap * (widths.size() - 1);
  const std::size_t room =
      std::max<std::size_t>(static_cast<std::size_t>(style.width), gaps) - gaps;
  shrink(widths, words, room);
  shrink(widths, std::vector<std::size_t>(widths.size(), 1), room);

  const bool shrunk = std::ranges::any_of(rows, [&](const auto& row) {
    for (std::size_t i = 0; i < row.size(); ++i)
      if (columns(row[i].text) > widths[i]) return true;
    return false;
  });
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 0;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      cells.push_back(lines_of(rows[r][i].text, widths[i]));
      height = std::max(height, cells.back().size());
    }
    // Where cells have several lines, an empty one shows where a row ends.
    if (shrunk && r > 1) out += "\n";
    for (std::size_t at = 0; at < height; ++at) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string text = at < cells[i].size() ? cells[i][at] : "";
        const std::string space(widths[i] - columns(text), ' ');
        line += (i > 0 ? std::string(kGap, ' ') : "") +
                (rows[r][i].right ? space + text : text + space);
      }
      while (line.ends_with(' ')) line.pop_back();
      out += style.paint(line, r == 0 ? Tone::kStrong : Tone::kPlain) + "\n";
    }
  }
  return out;
}

}  // namespace membound::report
