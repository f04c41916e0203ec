// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/picture.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace membound::harness {
namespace {

constexpr std::int64_t kMostLines = 16;
constexpr std::int64_t kMostColumns = 32;

/// How many of a character's elements are in which state.
struct Cell {
  std::int64_t all = 0, wrong = 0, never_written = 0;

  void add(Mark mark) {
    ++all;
    if (mark != Mark::kRight) ++wrong;
    if (mark == Mark::kNeverWritten) ++never_written;
  }
  [[nodiscard]] char character() const {
    if (all == 0) return ' ';
    if (never_written == all) return '-';
    if (wrong == all) return 'X';
    return wrong == 0 ? '.' : 'x';
  }
};

std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The smallest power of two that cuts `extent` into at most `pieces`.
std::int64_t side_for(std::int64_t extent, std::int64_t pieces) {
  return static_cast<std::int64_t>(std::bit_ceil(
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, divide_up(extent, pieces)))));
}

std::string draw(const std::vector<Cell>& cells, std::int64_t columns) {
  std::string text;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const bool line_starts = static_cast<std::int64_t>(i) % columns == 0;
    if (line_starts) text += i == 0 ? "  " : "\n  ";
    text += cells[i].character();
  }
  return text + "\n";
}

std::string legend(const std::string& unit) {
  return "where (each character is " + unit +
         "; . right, x partly wrong, X wrong, - never written):\n";
}

std::string list_picture(std::span<const Mark> marks) {
  const auto count = static_cast<std::int64_t>(marks.size());
  const std::int64_t side = side_for(count, kMostLines * kMostColumns);
  std::vector<Cell> cells(static_cast<std::size_t>(divide_up(count, side)));
  for (std::int64_t i = 0; i < count; ++i)
    cells[static_cast<std::size_t>(i / side)].add(marks[static_cast<std::size_t>(i)]);
  return legend(side == 1 ? "1 element" : std::to_string(side) + " elements") +
         draw(cells, kMostColumns);
}

std::string table_picture(std::span<const Mark> marks, std::int64_t width) {
  const std::int64_t height = static_cast<std::int64_t>(marks.size()) / width;
  const std::int64_t line_side = side_for(height, kMostLines);
  const std::int64_t column_side = side_for(width, kMostColumns);
  const std::int64_t columns = divide_up(width, column_side);
  std::vector<Cell> cells(static_cast<std::size_t>(divide_up(height, line_side) * columns));
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x)
      cells[static_cast<std::size_t>(y / line_side * columns + x / column_side)].add(
          marks[static_cast<std::size_t>(y * width + x)]);
  const bool single = line_side == 1 && column_side == 1;
  return legend(single ? "1 element"
                       : std::to_string(line_side) + " down by " + std::to_string(column_side) +
                             " across") +
         draw(cells, columns);
}

}  // namespace

std::string picture(std::span<const Mark> marks, std::span<const std::int64_t> extents) {
  if (marks.empty()) return {};
  return extents.size() < 2 ? list_picture(marks) : table_picture(marks, extents.back());
}

}  // namespace membound::harness
