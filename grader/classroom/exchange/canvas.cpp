// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Canvas's gradebook. Its import wants the column "Student" first, "ID" second, the student's
/// columns up to "Section", a row "Points Possible", and takes an unknown title for a new
/// assignment. An empty cell changes nothing. Source: Canvas's gradebook importer.
#include <algorithm>
#include <array>

#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/sheet.hpp"
#include "grader/course/grade.hpp"

namespace membound::exchange {
namespace {

constexpr std::array<std::string_view, 5> kCanvasIdentity = {"ID", "SIS User ID", "SIS Login ID",
                                                             "Student", "Integration ID"};
constexpr std::string_view kPointsPossible = "    Points Possible";

bool is_points_row(const std::vector<std::string>& row) {
  return row.front().find("Points Possible") != std::string::npos;
}

/// The gradebook's own columns about the student, and its rows of people and of points.
base::Result<base::CsvTable> people_of(const base::CsvTable& sheet, const std::string& name) {
  const auto section = sheet.column("Section");
  if (!section || sheet.header.front().find("Student") == std::string::npos)
    return base::Error{base::ErrorKind::kInput, name, "no columns Student and Section",
                       "a gradebook as Canvas exports it",
                       "in Canvas: Grades, Export, Export Entire Gradebook"};
  const auto columns = static_cast<std::ptrdiff_t>(*section) + 1;
  base::CsvTable people;
  people.delimiter = sheet.delimiter;
  people.header.assign(sheet.header.begin(), sheet.header.begin() + columns);
  for (const auto& row : sheet.rows) people.rows.emplace_back(row.begin(), row.begin() + columns);
  return people;
}

/// Canvas's number for the student; empty where no lab was taken in from Canvas.
std::string canvas_number(const StudentRow& student) {
  for (const course::Grade* grade : student.by_lab)
    if (grade != nullptr && grade->platform == "canvas") return grade->platform_id;
  return "";
}

/// A gradebook made of the grades alone. Who was taken in from a Canvas export has Canvas's own
/// number, which is the column ID; whoever else has an id of the school's, which is the SIS id.
base::CsvTable new_people(const std::vector<StudentRow>& students) {
  base::CsvTable people;
  people.header = {"Student", "ID", "SIS User ID", "SIS Login ID", "Section"};
  people.rows.push_back({std::string(kPointsPossible), "", "", "", ""});
  for (const StudentRow& student : students) {
    const course::Grade& any = *student.any;
    const std::string number = canvas_number(student);
    const std::string sis = any.student == number ? "" : any.student;
    people.rows.push_back({any.student_name.empty() ? any.student : any.student_name, number, sis,
                           any.student_email.empty() ? sis : any.student_email, ""});
  }
  return people;
}

/// The lab's own maximum, from anybody who has a grade.
double most_points(const std::vector<StudentRow>& students, std::size_t lab) {
  double most = 0;
  for (const StudentRow& student : students)
    if (student.by_lab[lab] != nullptr) most = std::max(most, student.by_lab[lab]->max_score);
  return most;
}

/// "Lab 3" is also "Lab 3 (4711)", as Canvas writes it.
std::optional<std::size_t> assignment_column(const base::CsvTable& sheet,
                                             const std::string& title) {
  if (const auto exact = sheet.column(title)) return exact;
  for (std::size_t i = 0; i < sheet.header.size(); ++i) {
    const std::string& header = sheet.header[i];
    if (!header.starts_with(title + " (") || header.back() != ')') continue;
    const std::string_view id(header.data() + title.size() + 2, header.size() - title.size() - 3);
    if (!id.empty() && id.find_first_not_of("0123456789") == std::string_view::npos) return i;
  }
  return std::nullopt;
}

struct Column {
  std::string title;
  std::string points;  ///< possible, as the sheet says; empty: not said
  std::vector<std::string> old_cells;
};

Column column_from(const base::CsvTable& sheet, const std::string& title) {
  Column column{title, {}, {}};
  const auto index = assignment_column(sheet, title);
  if (!index) return column;
  column.title = sheet.header[*index];
  for (const auto& row : sheet.rows) {
    column.old_cells.push_back(row[*index]);
    if (is_points_row(row)) column.points = row[*index];
  }
  return column;
}

}  // namespace

base::Result<Export> write_canvas(Grades grades, const Settings& settings) {
  const std::vector<std::string> labs = labs_of(grades);
  const std::vector<StudentRow> students = students_of(grades, labs);
  if ((!settings.assignment.empty() || settings.maximum) && labs.size() > 1)
    return base::Error{base::ErrorKind::kUsage, settings.maximum ? "--maximum" : "--assignment",
                       std::to_string(labs.size()) + " labs", "one lab", "choose it with --lab"};
  base::CsvTable table = new_people(students);
  if (settings.sheet) {
    auto people = people_of(*settings.sheet, settings.sheet_name);
    if (!people) return people.error();
    table = *std::move(people);
  }
  const Matcher matcher(table, kCanvasIdentity);
  Export out;
  for (std::size_t lab = 0; lab < labs.size(); ++lab) {
    Column column{title_of(labs[lab], grades, settings.assignment), {}, {}};
    if (settings.sheet) column = column_from(*settings.sheet, column.title);
    if (settings.sheet && column.old_cells.empty())
      out.left_out.push_back("the gradebook has no assignment \"" + column.title +
                             "\": Canvas will ask whether to make one");
    const std::size_t index = add_column(table, column.title);
    const double own = most_points(students, lab);
    const auto maximum = maximum_of(labs[lab], own, column.points, settings);
    if (!maximum) return maximum.error();
    if (auto note = scaling_note(labs[lab], own, *maximum); !note.empty())
      out.notes.push_back(std::move(note));
    for (std::size_t row = 0; row < table.rows.size(); ++row)
      if (is_points_row(table.rows[row]))
        set_cell(table, row, index, column.points.empty() ? two_decimals(*maximum) : column.points);
    for (const StudentRow& student : students) {
      const course::Grade* grade = student.by_lab[lab];
      if (grade == nullptr) continue;
      const auto row = matcher.row_of(*grade);
      if (!row)
        out.left_out.push_back(shown_student(*grade) + " is not in " + settings.sheet_name);
      else if (grade->withheld())
        out.left_out.push_back(why_withheld(*grade));
      else if (*row < column.old_cells.size() &&
               column.old_cells[*row].find("read only") != std::string::npos)
        out.left_out.push_back(shown_student(*grade) + ": Canvas says (read only)");
      else
        set_cell(table, *row, index,
                 two_decimals(course::scaled(*grade->score, grade->max_score, *maximum)));
    }
  }
  out.documents.push_back({"canvas.csv", base::write_csv(table, base::CsvReader::kSpreadsheet)});
  return out;
}

}  // namespace membound::exchange
