// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Moodle, in either of its two ways: the offline grading worksheet of one assignment, filled in
/// (its titles are in the site's language, so it cannot be made up here), or a table for the
/// gradebook's CSV import, where the teacher says which column is what.
/// Source: Moodle's assignment and gradebook documentation.
#include <algorithm>
#include <array>

#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/sheet.hpp"
#include "grader/course/grade.hpp"

namespace membound::exchange {
namespace {

constexpr std::array<std::string_view, 5> kMoodleIdentity = {"Identifier", "ID number", "Username",
                                                             "Email address", "Full name"};

/// Spreadsheets cut a cell at 32,767 characters, and Moodle's worksheet goes through one.
constexpr std::size_t kMostCellBytes = 32'000;
constexpr std::string_view kPictureStart = "<pre>", kPictureEnd = "</pre>";

/// `text` as HTML, as Moodle reads feedback; several lines are a picture whose columns must stay.
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
      default:
        out += c;
    }
  if (text.find('\n') == std::string_view::npos) return out;
  return std::string(kPictureStart) + out + std::string(kPictureEnd);
}

/// Parts of feedback, each whole: what no longer fits in a cell is left out and said so.
class Cell {
 public:
  void add(std::string_view text) {
    constexpr std::string_view kMore = "<br>… more in the report";
    if (cut_) return;
    std::string part = (text_.empty() ? "" : "<br>") + html(text);
    if (text_.size() + part.size() + kMore.size() > kMostCellBytes) {
      cut_ = true;
      part = kMore;
    }
    text_ += part;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool cut_ = false;
};

std::string feedback(const course::Grade& grade) {
  // Of one stage at most this much: the stages after it are of use too.
  constexpr std::size_t kMostStageBytes = 4'000;
  Cell cell;
  for (std::string rest = summary_beside_stages(grade); !rest.empty();) {
    const auto end = rest.find('\n');
    cell.add(rest.substr(0, end));
    rest.erase(0, end == std::string::npos ? rest.size() : end + 1);
  }
  for (const course::StageResult& stage : grade.result.stages) {
    const std::string text = stage_text(stage);
    const auto end = std::min(text.find('\n'), text.size());
    cell.add(stage_name(stage) + ": " + two_decimals(stage.points) + " of " +
             two_decimals(stage.max_points) + " points, " + text.substr(0, end));
    if (end < text.size()) cell.add(cut(text.substr(end + 1), kMostStageBytes));
  }
  return cell.text();
}

/// The worksheet names people "Participant 4711" where an id is 4711.
std::optional<std::size_t> find_row(const Matcher& matcher, const course::Grade& grade) {
  if (const auto row = matcher.row_of(grade)) return row;
  course::Grade participant = grade;
  participant.platform_id =
      "Participant " + (grade.platform == "moodle" ? grade.platform_id : grade.student);
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
    const auto maximum =
        maximum_of(grade.lab, grade.max_score,
                   maximum_column ? table.rows[*row][*maximum_column] : "", settings);
    if (!maximum) return maximum.error();
    if (auto note = scaling_note(grade.lab, grade.max_score, *maximum);
        !note.empty() && out.notes.empty())
      out.notes.push_back(std::move(note));
    set_cell(table, *row, *grade_column,
             two_decimals(course::scaled(*grade.score, grade.max_score, *maximum)));
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
    // A participant's number is no ID number: Moodle then knows people by address or name.
    const bool is_number = student.any->platform_id == student.any->student;
    row = {is_number ? "" : student.any->student, student.any->student_email,
           student.any->student_name};
    for (const course::Grade* grade : student.by_lab) {
      const bool written = grade != nullptr && !grade->withheld();
      if (grade != nullptr && grade->withheld()) out.left_out.push_back(why_withheld(*grade));
      const double worth = written ? *maximum_of(grade->lab, grade->max_score, "", settings) : 0;
      row.push_back(written ? two_decimals(course::scaled(*grade->score, grade->max_score, worth))
                            : "");
      row.push_back(written ? feedback(*grade) : "");
    }
  }
  out.documents.push_back({"moodle.csv", base::write_csv(table, base::CsvReader::kSpreadsheet)});
  return out;
}

}  // namespace

base::Result<Export> write_moodle(Grades grades, const Settings& settings) {
  if (settings.maximum && labs_of(grades).size() > 1)
    return base::Error{base::ErrorKind::kUsage, "--maximum",
                       std::to_string(labs_of(grades).size()) + " labs", "one lab",
                       "choose it with --lab"};
  if (settings.sheet) return fill_worksheet(grades, settings);
  return new_gradebook(grades, settings);
}

}  // namespace membound::exchange
