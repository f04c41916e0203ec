// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Words and numbers as people read them: wrapped, padded, with units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "grader/course/lab.hpp"

namespace membound::report {

/// Columns that UTF-8 text takes, one per code point.
[[nodiscard]] std::size_t columns(std::string_view text);

/// The beginning of `text` that takes at most `limit` columns.
[[nodiscard]] std::string_view first_columns(std::string_view text, std::size_t limit);

/// `text` with spaces behind it up to `width` columns; longer text is cut and ends in "…" (or ".").
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, each behind `indent` spaces. Line ends of `text` stay, so that
/// pictures and compiler output keep their shape; only longer lines are broken, at spaces, and go
/// on at the depth they started with. Ends with a newline unless empty.
[[nodiscard]] std::string wrapped(std::string_view text, int width, int indent);

/// 12345.6 -> "12,346"; 12.345 -> "12.3"; three digits, thousands apart.
[[nodiscard]] std::string number(double value);

/// The same without needless zeros: 32 -> "32", 25.04 -> "25".
[[nodiscard]] std::string amount(double value);

/// Bytes per second as "3,580 GB/s", operations per second as "24.7 Tops/s".
[[nodiscard]] std::string speed(double per_second, course::Bound bound);

/// Nanoseconds as "820 ns", "13.1 us", "2.13 ms" or "1.20 s".
[[nodiscard]] std::string duration(double ns);

/// "a, b and c".
[[nodiscard]] std::string listed(const std::vector<std::string>& words);

/// Points without needless digits: "10", "7.5".
[[nodiscard]] std::string points(double value);

}  // namespace membound::report
