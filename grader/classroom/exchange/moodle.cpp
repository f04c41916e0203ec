// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Moodle, in either of its two ways: the offline grading worksheet of one assignment, filled in
/// (its titles are in the site's language, so it cannot be made up here), or a table for the
/// gradebook's CSV import, where the teacher says which column is what.
/// Source: Moodle's assignment and gradebook documentation.
#include <array>
#include <cmath>
#include <cstdlib>

#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/sheet.hpp"

namespace membound::exchange {
namespace {

constexpr std::array<std::string_view, 5> kMoodleIdentity = {"Identifier", "ID number", "Username",
                                                             "Email address", "Full name"};

/// Moodle reads feedback as HTML.
std::string html(std::string_view text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\n':
        out += "<br>";
        break;
      default:
        out += c;
    }
  return out;
}

std::string feedback(const course::Grade& grade) {
  std::string text = summary(grade);
  for (const course::StageResult& stage : grade.result.stages)
    text += "\n" + stage_name(stage) + ": " + two_decimals(stage.points) + " of " +
            two_decimals(stage.max_points) + " points, " + stage_text(stage);
  return html(text);
}

/// The worksheet names people "Participant 4711" where an id is 4711.
std::optional<std::size_t> find_row(const Matcher& matcher, const course::Grade& grade) {
  if (const auto row = matcher.row_of(grade)) return row;
  course::Grade participant = grade;
  participant.student = "Participant " + grade.student;
  return matcher.row_of(participant);
}

base::Result<Export> fill_worksheet(Grades grades, const Settings& settings) {
  base::CsvTable table = *settings.sheet;
  const std::vector<std::string> labs = labs_of(grades);
  if (labs.size() != 1)
    return base::Error{base::ErrorKind::kUsage, settings.sheet_name,
                       "grades of " + std::to_string(labs.size()) + " labs",
                       "one lab, as a worksheet is of one assignment", "choose it with --lab"};
  const auto grade_column = table.column("Grade");
  if (!table.column("Identifier") || !grade_column)
    return base::Error{
        base::ErrorKind::kInput, settings.sheet_name, "no columns Identifier and Grade",
        "Moodle's offline grading worksheet",
        "in Moodle, in English: the assignment, Submissions, Download grading worksheet"};
  const auto maximum_column = table.column("Maximum Grade");
  const auto locked_column = table.column("Grade can be changed");
  const auto feedback_column = table.column("Feedback comments");
  const Matcher matcher(table, kMoodleIdentity);
  Export out;
  for (const course::Grade& grade : grades) {
    const auto row = find_row(matcher, grade);
    if (!row) {
      out.left_out.push_back(shown_student(grade) + " is not in " + settings.sheet_name);
      continue;
    }
    if (grade.withheld()) {
      out.left_out.push_back(why_withheld(grade));
      continue;
    }
    if (locked_column && table.rows[*row][*locked_column] == "No") {
      out.left_out.push_back(shown_student(grade) + ": Moodle says the grade cannot be changed");
      continue;
    }
    if (maximum_column) {
      const std::string& there = table.rows[*row][*maximum_column];
      if (std::abs(std::strtod(there.c_str(), nullptr) - grade.max_score) > 0.005)
        return other_maximum(settings.sheet_name, grade.lab, there, grade.max_score);
    }
    set_cell(table, *row, *grade_column, two_decimals(*grade.score));
    if (feedback_column) set_cell(table, *row, *feedback_column, feedback(grade));
  }
  out.documents.push_back(
      {"moodle-worksheet.csv", base::write_csv(table, base::CsvReader::kProgram)});
  return out;
}

Export new_gradebook(Grades grades, const Settings& settings) {
  const std::vector<std::string> labs = labs_of(grades);
  base::CsvTable table;
  table.header = {"ID number", "Email address", "Full name"};
  for (const std::string& lab : labs) {
    const std::string title = title_of(lab, grades, labs.size() == 1 ? settings.assignment : "");
    table.header.push_back(title);
    table.header.push_back(title + " (feedback)");
  }
  Export out;
  for (const StudentRow& student : students_of(grades, labs)) {
    auto& row = table.rows.emplace_back();
    row = {student.any->student, student.any->student_email, student.any->student_name};
    for (const course::Grade* grade : student.by_lab) {
      const bool written = grade != nullptr && !grade->withheld();
      if (grade != nullptr && grade->withheld()) out.left_out.push_back(why_withheld(*grade));
      row.push_back(written ? two_decimals(*grade->score) : "");
      row.push_back(written ? feedback(*grade) : "");
    }
  }
  out.documents.push_back({"moodle.csv", base::write_csv(table, base::CsvReader::kSpreadsheet)});
  return out;
}

}  // namespace

base::Result<Export> write_moodle(Grades grades, const Settings& settings) {
  if (settings.sheet) return fill_worksheet(grades, settings);
  return new_gradebook(grades, settings);
}

}  // namespace membound::exchange
