// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Finding a grade's student in a table that a platform gave out.
/// Place in the chain: canvas, moodle -> [sheet] -> csv.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/base/csv.hpp"
#include "grader/classroom/exchange/rows.hpp"

namespace membound::exchange {

/// Which row of a table is whose.
class Matcher {
 public:
  /// `identity` are titles of columns, the most certain first; those the table lacks are left out.
  Matcher(const base::CsvTable& table, std::span<const std::string_view> identity);

  /// The row whose identity columns hold the student's id, address or name; a value that several
  /// rows share matches none.
  [[nodiscard]] std::optional<std::size_t> row_of(const course::Grade& grade) const;

 private:
  std::vector<std::map<std::string, std::vector<std::size_t>>> columns_;
};

/// Puts `text` into a cell.
void set_cell(base::CsvTable& table, std::size_t row, std::size_t column, std::string text);

/// Adds an empty column behind all others; its index.
std::size_t add_column(base::CsvTable& table, std::string title);

/// The title of `lab`: the settings', else that of one of its results, else its id.
[[nodiscard]] std::string title_of(const std::string& lab, std::span<const course::Grade> grades,
                                   const std::string& from_settings);

/// What a lab is worth on the platform: what its sheet says, else the settings, else the lab's own
/// maximum. `there` may be empty or no number. An error where --maximum says otherwise than a
/// sheet.
[[nodiscard]] base::Result<double> maximum_of(const std::string& lab, double own,
                                              const std::string& there, const Settings& settings);

/// "03-transpose: points of 10 are written as points of 100"; empty where they are the same.
[[nodiscard]] std::string scaling_note(const std::string& lab, double own, double there);

}  // namespace membound::exchange
