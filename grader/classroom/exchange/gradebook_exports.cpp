// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What gradebooks of learning systems read: Canvas's gradebook import; Moodle's grading worksheet,
/// filled in, or a table for its gradebook's CSV import. Sources: Canvas's gradebook importer,
/// Moodle's assignment and gradebook documentation.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "grader/base/csv.hpp"
#include "grader/classroom/exchange/exchange.hpp"
#include "grader/course/grade.hpp"

namespace membound::exchange {
namespace {

/// Columns of a platform's table by what they say of a student, the most certain first; those that
/// a table lacks are left out.
struct Identity {
  std::string_view platform;       ///< whose numbers `number` holds
  std::string_view number_prefix;  ///< before the number: "Participant "
  std::vector<std::string_view> number, id, email, name;
};

/// Which row of a table is whose, by number, then id, then email, then name; a value that several
/// rows share matches none. Each row is one student's: of two the one whom the surer word names,
/// or who handed something in; of two alike neither.
class SheetRows {
 public:
  SheetRows(const base::CsvTable& table, const Identity& identity, const Settings& settings,
            std::span<const course::Grade* const> grades)
      : table_(table), identity_(identity), settings_(settings) {
    std::map<std::size_t, std::vector<Claim>> claims;
    for (const course::Grade* grade : grades)
      if (const auto claim = claim_of(*grade)) claims[claim->row].push_back(*claim);
    for (auto& [row, all] : claims) {
      std::stable_sort(all.begin(), all.end(),
                       [](const Claim& a, const Claim& b) { return a.strength() < b.strength(); });
      const bool contested = all.size() > 1 && all[1].strength() == all[0].strength() &&
                             all[0].grade->is_there() &&
                             all[1].grade->student != all[0].grade->student;
      if (!contested) rows_[all.front().grade->student] = row;
    }
  }

  [[nodiscard]] std::optional<std::size_t> row_of(const course::Grade& grade) const {
    const auto found = rows_.find(grade.student);
    return found == rows_.end() ? std::nullopt : std::optional(found->second);
  }

 private:
  struct Claim {
    const course::Grade* grade;
    std::size_t row;
    int rank;  ///< of the word that names the student: the number's is 0

    /// Work before nothing, a surer word before others.
    [[nodiscard]] std::pair<bool, int> strength() const { return {!grade->is_there(), rank}; }
  };

  [[nodiscard]] std::optional<std::size_t> only(const std::vector<std::string_view>& columns,
                                                const std::string& value) const {
    if (value.empty()) return std::nullopt;
    for (const std::string_view title : columns) {
      const auto column = table_.column(title);
      if (!column) continue;
      auto& rows = cache_[*column];
      if (rows.empty())
        for (std::size_t row = 0; row < table_.rows.size(); ++row)
          rows[table_.rows[row][*column]].push_back(row);
      const auto found = rows.find(value);
      if (found != rows.end() && found->second.size() == 1) return found->second.front();
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Claim> claim_of(const course::Grade& grade) const {
    const std::string prefix(identity_.number_prefix);
    std::vector<std::string> numbers;
    if (grade.platform == identity_.platform && !grade.platform_id.empty())
      numbers.push_back(grade.platform_id);
    if (const auto known = settings_.numbers.find(grade.student); known != settings_.numbers.end())
      numbers.insert(numbers.end(), known->second.begin(), known->second.end());
    for (const std::string& number : numbers)
      if (const auto row = only(identity_.number, prefix + number)) return Claim{&grade, *row, 0};
    int rank = 0;
    for (const auto& [columns, value] : {std::pair(&identity_.id, &grade.student),
                                         std::pair(&identity_.email, &grade.student_email),
                                         std::pair(&identity_.name, &grade.student_name)}) {
      ++rank;
      if (const auto row = only(*columns, *value)) return Claim{&grade, *row, rank};
    }
    // A student's id may be the platform's number, where nothing says that it is another's.
    for (const auto* columns : {&identity_.number, &identity_.name})
      if (const auto row =
              only(*columns, (columns == &identity_.number ? prefix : "") + grade.student);
          row && may_be(*row, grade))
        return Claim{&grade, *row, rank + 1};
    return std::nullopt;
  }

  /// The table has no other name for the row than the grade has.
  [[nodiscard]] bool may_be(std::size_t row, const course::Grade& grade) const {
    const auto name = table_.column(identity_.name.front());
    return !name || grade.student_name.empty() || table_.rows[row][*name].empty() ||
           table_.rows[row][*name] == grade.student_name;
  }

  const base::CsvTable& table_;
  const Identity& identity_;
  const Settings& settings_;
  mutable std::map<std::size_t, std::map<std::string, std::vector<std::size_t>>> cache_;
  std::map<std::string, std::size_t> rows_;  ///< by student
};

/// Says that a grade has no row, and loudly where somebody's work would be lost.
void leave_out(const course::Grade& grade, const Settings& settings, Export& out) {
  const std::string text = shown_student(grade) + " is not in " + settings.sheet_name;
  out.left_out.push_back(text);
  if (grade.is_there()) out.unmatched.push_back(text + " by id, email or name (" + grade.lab + ")");
}

/// As files hold them: two decimals.
bool same_points(double a, double b) { return std::abs(a - b) <= 0.005; }

/// Puts `text` into a cell.
void set_cell(base::CsvTable& table, std::size_t row, std::size_t column, std::string text) {
  table.rows.at(row).at(column) = std::move(text);
}

/// Adds an empty column after all others; its index.
std::size_t add_column(base::CsvTable& table, std::string title) {
  table.header.push_back(std::move(title));
  for (auto& row : table.rows) row.emplace_back();
  return table.header.size() - 1;
}

/// The title of `lab`: the settings', else that of one of its results, else its id.
std::string title_of(const std::string& lab, std::span<const course::Grade> grades,
                     const std::string& from_settings) {
  if (!from_settings.empty()) return from_settings;
  for (const course::Grade& grade : grades)
    if (grade.lab == lab && !grade.result.title.empty()) return grade.result.title;
  return lab;
}

/// What a lab is worth on the platform: what its sheet says, else the settings, else the lab's own
/// maximum. `there` may be empty or no number. An error where --maximum says otherwise than a
/// sheet.
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

/// "03-transpose: points of 10 are written as points of 100"; empty where they are the same.
std::string scaling_note(const std::string& lab, double own, double there) {
  if (same_points(own, there)) return "";
  return lab + ": points of " + two_decimals(own) + " are written as points of " +
         two_decimals(there);
}

const Identity& canvas_identity() {
  static const Identity identity{.platform = "canvas",
                                 .number_prefix = "",
                                 .number = {"ID"},
                                 .id = {"SIS User ID", "SIS Login ID", "Integration ID"},
                                 .email = {"SIS Login ID", "SIS User ID", "Email"},
                                 .name = {"Student"}};
  return identity;
}
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

/// Canvas's import wants the column "Student" first, "ID" second, the student's columns up to
/// "Section", a row "Points Possible", and takes an unknown title for a new assignment. An empty
/// cell changes nothing.
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
  Export out;
  const base::CsvTable people = table;
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
    std::vector<const course::Grade*> of_lab;
    for (const StudentRow& student : students)
      if (student.by_lab[lab] != nullptr) of_lab.push_back(student.by_lab[lab]);
    const SheetRows sheet_rows(people, canvas_identity(), settings, of_lab);
    for (const course::Grade* grade : of_lab) {
      const auto row = sheet_rows.row_of(*grade);
      if (!row)
        leave_out(*grade, settings, out);
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

namespace {

/// The worksheet names people "Participant 4711" where Moodle's number is 4711.
const Identity& moodle_identity() {
  static const Identity identity{.platform = "moodle",
                                 .number_prefix = "Participant ",
                                 .number = {"Identifier"},
                                 .id = {"ID number", "Username", "Identifier"},
                                 .email = {"Email address"},
                                 .name = {"Full name"}};
  return identity;
}

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
  std::vector<const course::Grade*> all;
  for (const course::Grade& grade : grades) all.push_back(&grade);
  const SheetRows sheet_rows(*settings.sheet, moodle_identity(), settings, all);
  Export out;
  for (const course::Grade& grade : grades) {
    const auto row = sheet_rows.row_of(grade);
    if (!row) {
      leave_out(grade, settings, out);
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

/// In either of Moodle's two ways: the offline grading worksheet of one assignment, filled in (its
/// titles are in the site's language, so it cannot be made up here), or a table for the gradebook's
/// CSV import, where the teacher says which column is what.
base::Result<Export> write_moodle(Grades grades, const Settings& settings) {
  if (settings.maximum && labs_of(grades).size() > 1)
    return base::Error{base::ErrorKind::kUsage, "--maximum",
                       std::to_string(labs_of(grades).size()) + " labs", "one lab",
                       "choose it with --lab"};
  if (settings.sheet) return fill_worksheet(grades, settings);
  return new_gradebook(grades, settings);
}

}  // namespace membound::exchange
