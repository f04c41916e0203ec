// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/course_table.hpp"

#include <algorithm>

namespace membound::course {

double scaled(double points, double maximum, double worth) {
  return maximum > 0 ? points * worth / maximum : 0;
}

CourseTable course_table(std::span<const Grade> grades,
                         const std::map<std::string, double>& worth) {
  CourseTable table;
  std::map<std::string, CourseTable::Column> labs;
  for (const Grade& grade : grades) {
    CourseTable::Column& column = labs[grade.lab];
    column.lab = grade.lab;
    if (column.title.empty()) column.title = grade.result.title;
    const auto own = worth.find(grade.lab);
    column.worth = own != worth.end() ? own->second : std::max(column.worth, grade.max_score);
  }
  std::map<std::string, std::size_t> places;
  for (const auto& [lab, column] : labs) {
    places[lab] = table.labs.size();
    table.labs.push_back(column);
    table.worth += column.worth;
  }
  std::map<std::string, CourseRow> rows;
  for (const Grade& grade : grades) {
    CourseRow& row = rows[grade.student];
    if (row.any == nullptr || row.any->student_name.empty()) row.any = &grade;
    row.cells.resize(labs.size());
    CourseCell& cell = row.cells[places[grade.lab]];
    cell.grade = &grade;
    if (grade.score) cell.points = scaled(*grade.score, grade.max_score, labs[grade.lab].worth);
    row.total += cell.points.value_or(0);
    row.withheld += grade.withheld() ? 1 : 0;
  }
  for (auto& [student, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

}  // namespace membound::course
