// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/exchange/sheet.hpp"

#include <array>
#include <cmath>
#include <cstdlib>

namespace membound::exchange {
namespace {

/// As files hold them: two decimals.
bool same_points(double a, double b) { return std::abs(a - b) <= 0.005; }

}  // namespace

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
  const std::array names = {grade.platform_id, grade.student, grade.student_email,
                            grade.student_name};
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

base::Result<double> maximum_of(const std::string& lab, double own, const std::string& there,
                                const Settings& settings) {
  char* end = nullptr;
  const double said = std::strtod(there.c_str(), &end);
  const bool has_said = end != there.c_str() && said > 0;
  if (has_said && settings.maximum && !same_points(said, *settings.maximum))
    return base::Error{base::ErrorKind::kUsage, settings.sheet_name,
                       "a maximum of " + there + " points for " + lab,
                       two_decimals(*settings.maximum) + " points, as --maximum says",
                       "leave --maximum out: points are scaled to the sheet's"};
  if (has_said) return said;
  if (settings.maximum) return *settings.maximum;
  const auto worth = settings.worth.find(lab);
  return worth != settings.worth.end() ? worth->second : own;
}

std::string scaling_note(const std::string& lab, double own, double there) {
  if (same_points(own, there)) return "";
  return lab + ": points of " + two_decimals(own) + " are written as points of " +
         two_decimals(there);
}

}  // namespace membound::exchange
