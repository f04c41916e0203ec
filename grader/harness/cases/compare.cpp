// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/cases/compare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include "grader/base/failpoint.hpp"
#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"

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

/// The smallest power of two that cuts `extent` into at most `parts`.
std::int64_t side_for(std::int64_t extent, std::int64_t parts) {
  return static_cast<std::int64_t>(std::bit_ceil(
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, divide_up(extent, parts)))));
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

namespace {

/// Digits enough to tell any two values apart.
template <typename T>
std::string number(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.*g", std::numeric_limits<T>::max_digits10,
                  static_cast<double>(value));
    return text;
  } else {
    return std::to_string(value);
  }
}

template <typename T>
std::string got_text(T value) {
  return is_poison(value) ? "nothing (never written)" : number(value);
}

/// "row 3, column 17"
std::string coordinates(std::size_t index, const Shape& shape) {
  std::string text;
  auto rest = static_cast<std::int64_t>(index);
  for (std::size_t axis = shape.extents.size(); axis-- > 0;) {
    const std::int64_t extent = shape.extents[axis];
    const std::string here = shape.axis_names[axis] + " " + std::to_string(rest % extent);
    text = text.empty() ? here : here + ", " + text;
    rest /= extent;
  }
  return text;
}

template <typename T>
std::vector<Mark> marks_of(const std::vector<T>& got, const std::vector<T>& expected,
                           Tolerance tolerance) {
  std::vector<Mark> marks(got.size(), Mark::kRight);
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (element_equal(got[i], expected[i], tolerance)) continue;
    marks[i] = is_poison(got[i]) ? Mark::kNeverWritten : Mark::kWrong;
  }
  return marks;
}

/// Where the wrong value belongs, if it belongs to exactly one other place: the best clue there is
/// to a wrong index.
template <typename T>
std::optional<std::size_t> home_of(T value, const std::vector<T>& expected) {
  std::optional<std::size_t> home;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (expected[i] != value) continue;
    if (home) return std::nullopt;
    home = i;
  }
  return home;
}

std::string counts(std::size_t wrong, std::size_t never_written, std::size_t all) {
  std::string text = std::to_string(wrong) + " of " + std::to_string(all) +
                     (all == 1 ? " element is wrong" : " elements are wrong");
  if (never_written == wrong)
    return text + (wrong == 1 ? ": never written" : ": all never written");
  if (never_written > 0) text += ", " + std::to_string(never_written) + " of them never written";
  return text;
}

std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::string tolerance_text(Tolerance tolerance) {
  if (tolerance.absolute == 0 && tolerance.relative == 0) return {};
  std::string text = tolerance.absolute > 0 ? rounded(tolerance.absolute) : "";
  if (tolerance.relative > 0)
    text += (text.empty() ? "" : " + ") + rounded(tolerance.relative) + " x |expected|";
  return " (allowed difference: " + text + ")";
}

template <typename T>
std::string describe(const std::vector<T>& got, const std::vector<T>& expected, const Shape& shape,
                     Tolerance tolerance, const std::vector<Mark>& marks) {
  const auto first = static_cast<std::size_t>(
      std::find_if(marks.begin(), marks.end(), [](Mark m) { return m != Mark::kRight; }) -
      marks.begin());
  std::string text = "first wrong: " + coordinates(first, shape) + "\n  got      " +
                     got_text(got[first]) + "\n  expected " + number(expected[first]) +
                     tolerance_text(tolerance) + "\n";
  if (marks[first] == Mark::kWrong) {
    if (const auto home = home_of(got[first], expected))
      text += "  that value belongs to " + coordinates(*home, shape) + "\n";
  }
  const auto wrong =
      marks.size() - static_cast<std::size_t>(std::count(marks.begin(), marks.end(), Mark::kRight));
  const auto never =
      static_cast<std::size_t>(std::count(marks.begin(), marks.end(), Mark::kNeverWritten));
  text += counts(wrong, never, marks.size()) + "\n";
  return marks.size() == 1 ? text : text + picture(marks, shape.extents);
}

}  // namespace

template <typename T>
bool element_equal(T got, T expected, Tolerance tolerance) {
  // Poison is a NaN, so that a NaN that was expected but never written would pass unnoticed.
  if (is_poison(got)) return std::is_integral_v<T> && got == expected;
  if constexpr (std::is_floating_point_v<T>) {
    if (got == expected) return true;
    // What a comparison without rules of its own says: no NaN is greater than anything.
    static const bool is_naive = base::switched_off("harness.nan");
    if (is_naive)
      return !(std::abs(static_cast<double>(got) - static_cast<double>(expected)) >
               tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(expected)));
    if (std::isnan(expected)) return std::isnan(got);
    if (std::isnan(got) || std::isinf(got) || std::isinf(expected)) return false;
    const double difference = std::abs(static_cast<double>(got) - static_cast<double>(expected));
    return difference <=
           tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(expected));
  } else {
    if (got == expected) return true;
    if (tolerance.absolute == 0 && tolerance.relative == 0) return false;
    const double difference = std::abs(static_cast<double>(got) - static_cast<double>(expected));
    return difference <=
           tolerance.absolute + tolerance.relative * std::abs(static_cast<double>(expected));
  }
}

template <typename T>
bool have_same_bits(std::span<const std::byte> got, std::span<const std::byte> expected) {
  if (got.size() != expected.size()) return false;
  if (!got.empty() && std::memcmp(got.data(), expected.data(), got.size()) != 0) return false;
  bool has_poison = false;
  for (std::size_t at = 0; at < got.size(); at += sizeof(T)) {
    T is{};
    std::memcpy(&is, got.data() + at, sizeof(T));
    has_poison |= is_poison(is);
  }
  return !has_poison;
}

template <typename T>
testing::AssertionResult arrays_equal(const std::vector<T>& got, const std::vector<T>& expected,
                                      const Shape& shape, Tolerance tolerance) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape.extents) elements *= extent;
  MEMBOUND_CHECK(shape.axis_names.size() == shape.extents.size());
  MEMBOUND_CHECK(static_cast<std::size_t>(elements) == expected.size());
  if (got.size() != expected.size())
    return testing::AssertionFailure()
           << "got " << got.size() << " elements, expected " << expected.size();
  if (have_same_bits<T>(std::as_bytes(std::span(got)), std::as_bytes(std::span(expected))))
    return testing::AssertionSuccess();
  const std::vector<Mark> marks = marks_of(got, expected, tolerance);
  if (std::all_of(marks.begin(), marks.end(), [](Mark m) { return m == Mark::kRight; }))
    return testing::AssertionSuccess();
  return testing::AssertionFailure() << describe(got, expected, shape, tolerance, marks);
}

#define MEMBOUND_INSTANTIATE_COMPARE(T)                                                           \
  template testing::AssertionResult arrays_equal<T>(const std::vector<T>&, const std::vector<T>&, \
                                                    const Shape&, Tolerance);                     \
  template bool have_same_bits<T>(std::span<const std::byte>, std::span<const std::byte>);        \
  template bool element_equal<T>(T, T, Tolerance);
MEMBOUND_INSTANTIATE_COMPARE(float)
MEMBOUND_INSTANTIATE_COMPARE(double)
MEMBOUND_INSTANTIATE_COMPARE(int)
MEMBOUND_INSTANTIATE_COMPARE(unsigned)
MEMBOUND_INSTANTIATE_COMPARE(long)
MEMBOUND_INSTANTIATE_COMPARE(unsigned long)
MEMBOUND_INSTANTIATE_COMPARE(long long)
MEMBOUND_INSTANTIATE_COMPARE(unsigned long long)
#undef MEMBOUND_INSTANTIATE_COMPARE

}  // namespace membound::harness
