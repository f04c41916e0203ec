// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/exchange/sheet.hpp"

#include <array>

namespace membound::exchange {

Matcher::Matcher(const base::CsvTable& table, std::span<const std::string_view> identity) {
  for (const std::string_view title : identity) {
    const auto column = table.column(title);
    if (!column) continue;
    auto& rows = columns_.emplace_back();
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      if (const std::string& value = table.rows[row][*column]; !value.empty())
        rows[value].push_back(row);
  }
}

std::optional<std::size_t> Matcher::row_of(const course::Grade& grade) const {
  const std::array names = {grade.student, grade.student_email, grade.student_name};
  for (const std::string& name : names) {
    if (name.empty()) continue;
    for (const auto& column : columns_) {
      const auto found = column.find(name);
      if (found != column.end() && found->second.size() == 1) return found->second.front();
    }
  }
  return std::nullopt;
}

void set_cell(base::CsvTable& table, std::size_t row, std::size_t column, std::string text) {
  table.rows.at(row).at(column) = std::move(text);
}

std::size_t add_column(base::CsvTable& table, std::string title) {
  table.header.push_back(std::move(title));
  for (auto& row : table.rows) row.emplace_back();
  return table.header.size() - 1;
}

std::string title_of(const std::string& lab, std::span<const course::Grade> grades,
                     const std::string& from_settings) {
  if (!from_settings.empty()) return from_settings;
  for (const course::Grade& grade : grades)
    if (grade.lab == lab && !grade.result.title.empty()) return grade.result.title;
  return lab;
}

base::Error other_maximum(const std::string& sheet, const std::string& lab,
                          const std::string& there, double here) {
  return {base::ErrorKind::kInput, sheet, "a maximum of " + there + " points for " + lab,
          two_decimals(here) + " points, as the lab has",
          "set the assignment's points there, download the file again and repeat the export"};
}

}  // namespace membound::exchange
