// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/hand_marks.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/intake/layout.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::queue {
namespace {

using course::Grade;

std::string score_words(const std::optional<double>& score) {
  return score ? course::short_decimal(*score) : "withheld";
}

void put_before(const std::string& text, std::string& note) {
  note = text + (note.empty() ? "" : "; " + note);
}

std::string with_comment(const std::string& what, const std::string& comment) {
  return what + (comment.empty() ? "" : ": " + comment);
}

/// Nothing is left for a person to decide: there was a score, or every stage without one is marked.
bool settles(const LabMarks& marks, const Grade& grade) {
  if (grade.score) return true;
  const auto& stages = grade.result.stages;
  const auto is_marked = [&marks](const auto& one) { return marks.of_stage.contains(one.stage); };
  const auto is_withheld = [](const auto& one) {
    return !course::row_of(course::row_of(one.verdict).grade).has_score;
  };
  if (stages.empty()) return false;
  if (std::none_of(stages.begin(), stages.end(), is_withheld))
    return std::all_of(stages.begin(), stages.end(), is_marked);
  return std::all_of(stages.begin(), stages.end(),
                     [&](const auto& one) { return !is_withheld(one) || is_marked(one); });
}

/// The marked stages count as given, all others as before.
void apply_to_stages(const LabMarks& marks, Grade& grade) {
  course::HandMark mark{0, "", "", grade.score, {}};
  double points = 0;
  std::map<int, double> automatic;
  for (const course::StageResult& stage : grade.result.stages) {
    automatic[stage.stage] = stage.points;
    if (!marks.of_stage.contains(stage.stage)) points += stage.points * grade.late_factor;
  }
  std::string note;
  bool replaces_note = false;
  for (const auto& [stage, one] : marks.of_stage) {
    points += *one.points;
    mark.stages.push_back({stage, *one.points, one.comment, one.marked_at, automatic[stage]});
    mark.marked_at = std::max(mark.marked_at, one.marked_at);
    base::add_word(note,
                   with_comment("stage " + std::to_string(stage) + " marked by hand", one.comment) +
                       " (automatic points: " + course::short_decimal(automatic[stage]) + ")",
                   "; ");
    // The verdict's note is about one stage, and that one is decided now.
    replaces_note = replaces_note ||
                    grade.note.find("stage " + std::to_string(stage) + ": ") != std::string::npos;
  }
  const bool settled = settles(marks, grade);
  mark.points = points;
  mark.comment = marks.of_stage.size() == 1 ? marks.of_stage.begin()->second.comment : "";
  grade.mark = std::move(mark);
  grade.score = settled ? std::optional(points) : std::nullopt;
  if (replaces_note) {
    grade.note = grade.intake_note;
    if (const std::string late = course::late_text(grade); !late.empty())
      base::add_word(grade.note, late, "; ");
  }
  put_before(note, grade.note);
}

}  // namespace

Marks last_marks(const std::vector<ledger::Mark>& all) {
  Marks marks;
  for (const ledger::Mark& mark : all) {
    LabMarks& lab = marks[{mark.student, mark.lab}];
    const bool stands = mark.points || mark.excused;
    if (!mark.item.empty()) {
      lab.of_item.erase(mark.item);
      if (stands) lab.of_item[mark.item] = mark;
    } else if (mark.stage == 0) {
      lab = {};
      if (stands) lab.whole = mark;
    } else if (stands) {
      lab.of_stage[mark.stage] = mark;
    } else {
      lab.of_stage.erase(mark.stage);
    }
  }
  return marks;
}

std::string basis_of(const Plan& plan, const std::string& student, const std::string& lab) {
  std::set<std::string> texts;
  for (const Row& row : plan.rows)
    if (row.student == student && row.lab == lab && row.attempt > 0)
      texts.insert(row.submission_sha256 + row.refused);
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return base::sha256(all);
}

void apply_mark(const LabMarks& given, const std::string& basis, Grade& grade) {
  LabMarks marks = given;
  const auto is_old = [&](const ledger::Mark& mark) {
    if (mark.excused || mark.basis == basis) return false;
    put_before("the mark by hand of " + mark.marked_at + " was for other work", grade.note);
    return true;
  };
  if (marks.whole && is_old(*marks.whole)) marks.whole.reset();
  std::erase_if(marks.of_stage, [&](const auto& one) { return is_old(one.second); });
  if (!marks.whole) {
    if (!marks.of_stage.empty()) apply_to_stages(marks, grade);
    return;
  }
  const ledger::Mark& mark = *marks.whole;
  const std::string automatic = " (automatic score: " + score_words(grade.score) + ")";
  grade.note = grade.intake_note;
  grade.late_factor = 1;
  if (mark.excused) {
    grade.excused = true;
    grade.score.reset();
    put_before(with_comment("excused", mark.comment), grade.note);
    return;
  }
  grade.mark = course::HandMark{*mark.points, mark.comment, mark.marked_at, grade.score};
  grade.score = *mark.points;
  put_before(with_comment("marked by hand", mark.comment) + automatic, grade.note);
}

void apply_write_up(const LabMarks& marks, const std::string& basis,
                    const std::vector<course::RubricItem>& rubric, Grade& grade) {
  const bool whole_stands = grade.excused || (grade.mark && grade.mark->stages.empty());
  double points = 0;
  bool is_old = false;
  for (const course::RubricItem& item : rubric) {
    grade.max_score += item.points;
    course::WriteUpMark& shown = grade.write_up.emplace_back();
    shown.item = item;
    const auto mark = marks.of_item.find(item.item);
    if (whole_stands || mark == marks.of_item.end()) continue;
    if (mark->second.basis != basis) {
      is_old = true;
      continue;
    }
    shown.points = mark->second.points;
    shown.comment = mark->second.comment;
    points += mark->second.points.value_or(0);
  }
  if (whole_stands) return grade.write_up.clear();
  if (grade.score) *grade.score += points;
  if (is_old) put_before("the write-up's mark by hand was for other work", grade.note);
  if (grade.is_there())
    put_before("write-up: " + course::write_up_text(grade.write_up), grade.note);
}

namespace {

base::Error wrong_row(const MarkRow& row, const std::string& place, const std::string& found,
                      const std::string& expected, const std::string& advice = "") {
  return {base::ErrorKind::kUsage, row.where.empty() ? place : row.where + ": " + place, found,
          expected, advice};
}

/// The one grade that the row means.
base::Result<const Grade*> grade_meant(const MarkRow& row, const std::vector<Grade>& grades,
                                       const std::filesystem::path& out) {
  const auto found = meant(grades, row.student, row.lab);
  if (found.empty())
    return wrong_row(row, row.student,
                     "has no grade in " + out.string() + (row.lab.empty() ? "" : " for " + row.lab),
                     "a student's id, name or email as in grades.csv");
  if (found.size() > 1)
    return wrong_row(row, row.student,
                     found.front()->student == found.back()->student ? "has grades of several labs"
                                                                     : "means several students",
                     "one student and one lab", "name the id and the lab");
  return found.front();
}

/// The most that an item of the write-up can give.
base::Result<double> most_of_item(const MarkRow& row, const Plan& plan, const Grade& grade) {
  const auto& counted = plan.rules.counting.write_ups;
  if (std::find(counted.begin(), counted.end(), grade.lab) == counted.end())
    return wrong_row(row, "item",
                     row.item + ", and the write-up of " + grade.lab + " does not count",
                     "a lab of \"write_ups\" below counting in course.yml",
                     "membound grade --resume --course course.yml");
  std::string names;
  for (const course::RubricItem& item : plan.labs.at(grade.lab).rubric) {
    if (item.item == row.item) return item.points;
    base::add_word(names, item.item);
  }
  return wrong_row(row, "item", row.item + " is none of " + grade.lab, names);
}

/// The most that the row can give; an error where the lab has no such stage or item.
base::Result<double> most_points(const MarkRow& row, const Plan& plan, const Grade& grade) {
  if (!row.item.empty()) return most_of_item(row, plan, grade);
  if (row.stage == 0) return grade.max_score;
  const auto points = stage_points(plan, grade.lab);
  if (const auto own = points.find(row.stage); own != points.end()) return own->second;
  for (const course::StageResult& stage : grade.result.stages)
    if (stage.stage == row.stage) return stage.max_points;
  return wrong_row(row, "stage " + std::to_string(row.stage), "is no stage of " + grade.lab,
                   "a stage as membound list shows it");
}

/// The row as an entry of the ledger; an error where it cannot be meant.
base::Result<ledger::Mark> mark_of(const MarkRow& row, const Plan& plan,
                                   const std::vector<Grade>& grades,
                                   const std::filesystem::path& out) {
  const auto found = grade_meant(row, grades, out);
  if (!found) return found.error();
  const Grade& grade = **found;
  const auto most = most_points(row, plan, grade);
  if (!most) return most.error();
  if (row.points && !(*row.points >= 0 && *row.points <= *most))
    return wrong_row(row, "points", course::short_decimal(*row.points),
                     "0 to " + course::short_decimal(*most) + " for " + grade.lab +
                         (row.stage > 0 ? ", stage " + std::to_string(row.stage) : "") +
                         (row.item.empty() ? "" : ", " + row.item));
  const bool is_part = row.stage > 0 || !row.item.empty();
  if (row.excused && is_part)
    return wrong_row(row, "excused", "one stage or item", "a whole lab", "leave it out");
  const bool whole_stands = grade.excused || (grade.mark && grade.mark->stages.empty());
  if (is_part && row.points && whole_stands)
    return wrong_row(row, row.student, "has a mark for the whole of " + grade.lab,
                     "one or the other", "take that one back first: --take-back");
  ledger::Mark mark;
  mark.student = grade.student;
  mark.lab = grade.lab;
  mark.points = row.excused ? std::nullopt : row.points;
  mark.comment = row.comment;
  mark.marked_at = now_text();
  mark.basis = basis_of(plan, grade.student, grade.lab);
  mark.automatic = verdict_words(grade) + ", " +
                   score_words(grade.mark ? grade.mark->automatic_score : grade.score);
  mark.stage = row.stage;
  mark.item = row.item;
  mark.excused = row.excused;
  return mark;
}

}  // namespace

base::Result<std::vector<Grade>> mark_by_hand(const MarkRequest& request) {
  const auto plan = read_plan(request.out);
  if (!plan) return plan.error();
  const auto before = read_class(request.out, request.key_file, Detail::kShown);
  if (!before) return before.error();
  std::vector<ledger::Mark> marks;
  for (const MarkRow& row : request.rows) {
    auto mark = mark_of(row, **plan, before->grades, request.out);
    if (!mark) return mark.error();
    marks.push_back(*std::move(mark));
  }
  auto ledger = ledger::Ledger::open(request.out, {.key_file = request.key_file});
  if (!ledger) return ledger.error();
  const auto kept = ledger->mark(marks);
  if (!kept) return kept.error();
  const auto verdicts = ledger::read_verdicts(request.out, request.key_file);
  if (!verdicts) return verdicts.error();
  const auto after = write_class(request.out, **plan, *verdicts, Detail::kSummary);
  if (!after) return after.error();
  std::vector<Grade> grades;
  for (const ledger::Mark& mark : marks)
    for (const Grade& grade : after->grades)
      if (grade.student == mark.student && grade.lab == mark.lab) grades.push_back(grade);
  return grades;
}

namespace {

constexpr const char* kTakesBack = "automatic";
constexpr std::size_t kMostCommentBytes = 4000;

/// yes, no and their like; nothing for another word.
std::optional<bool> yes_or_no(const std::string& cell) {
  const std::string word = intake::folded(cell);
  for (const char* yes : {"yes", "y", "true", "1", "x", "excused"})
    if (word == yes) return true;
  for (const char* no : {"", "no", "n", "false", "0"})
    if (word == no) return false;
  return std::nullopt;
}

template <typename Number>
std::optional<Number> number_in(const std::string& cell) {
  Number value{};
  const char* const end = cell.data() + cell.size();
  const auto read = std::from_chars(cell.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// What the cells of one row say.
struct MarkCells {
  std::string student, lab, stage, item, points, comment, excused;
};

base::Result<MarkRow> row_from(const MarkCells& cells, const std::string& where,
                               const std::vector<course::Lab>& labs) {
  MarkRow row;
  row.where = where;
  row.student = cells.student;
  row.comment = intake::shown(cells.comment, kMostCommentBytes);
  const auto lab = intake::lab_meant(cells.lab, labs, where);
  if (!lab) return lab.error();
  row.lab = *lab;
  if (!cells.stage.empty()) {
    const auto stage = number_in<int>(cells.stage);
    if (!stage || *stage < 1)
      return wrong_row(row, "stage", "\"" + intake::shown(cells.stage, 60) + "\"",
                       "the number of a stage, or nothing for the whole lab");
    row.stage = *stage;
  }
  row.item = intake::shown(cells.item, 60);
  if (!row.item.empty() && row.stage > 0)
    return wrong_row(row, "item", row.item + " beside a stage", "one or the other");
  const auto excused = yes_or_no(cells.excused);
  if (!excused)
    return wrong_row(row, "excused", "\"" + intake::shown(cells.excused, 60) + "\"", "yes or no");
  row.excused = *excused;
  if (!cells.points.empty() && cells.points != kTakesBack) {
    row.points = number_in<double>(cells.points);
    if (!row.points)
      return wrong_row(row, "points", "\"" + intake::shown(cells.points, 60) + "\"",
                       "a number with a decimal point, or \"automatic\" to take a mark back");
  }
  if (row.excused ? !cells.points.empty() : cells.points.empty())
    return wrong_row(row, "points", row.excused ? "beside excused" : "nothing",
                     "points, or yes below excused", "\"automatic\" takes a mark back");
  return row;
}

}  // namespace

base::Result<std::vector<MarkRow>> read_marks_table(std::string_view text,
                                                    const std::string& file_name,
                                                    const std::vector<course::Lab>& labs) {
  const auto table = base::read_csv(text, file_name);
  if (!table) return table.error();
  const auto who = intake::student_column(*table);
  const auto lab = table->column("lab"), points = table->column("points"),
             stage = table->column("stage"), comment = table->column("comment"),
             excused = table->column("excused"), item = table->column("item");
  if (!who || !lab || (!points && !excused)) {
    return base::Error{base::ErrorKind::kInput, file_name, "a column is missing",
                       "student, lab, points and, if you like, stage, item, comment and excused",
                       "write \"student,lab,points,comment\" above the first row"};
  }
  std::vector<MarkRow> rows;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const auto cell = [&](const std::optional<std::size_t>& column) {
      return column ? table->rows[i][*column] : std::string();
    };
    auto row = row_from(
        {cell(who), cell(lab), cell(stage), cell(item), cell(points), cell(comment), cell(excused)},
        file_name + ", row " + std::to_string(i + 2), labs);
    if (!row) return row.error();
    rows.push_back(*std::move(row));
  }
  return rows;
}

std::string line_of_submission(const std::filesystem::path& out,
                               const std::string& submission_sha256, int line) {
  const auto text = base::read_file(intake::Store(out).file(submission_sha256));
  if (!text) return "";
  std::istringstream lines(*text);
  std::string found;
  for (int number = 0; number < line; ++number)
    if (!std::getline(lines, found)) return "";
  if (found.ends_with('\r')) found.pop_back();
  return found;
}

std::string write_up_of_submission(const std::filesystem::path& out,
                                   const std::string& submission_sha256) {
  const auto text = base::read_file(intake::Store(out).file(submission_sha256));
  if (!text) return "";
  const course::SplitSubmission split = course::split_submission(*text);
  const auto found = split.beside.find(std::string(course::kWriteUpFile));
  return found == split.beside.end() ? "" : found->second;
}

base::Result<std::string> comment_line(const CommentRequest& request) {
  const auto all = read_class(request.out, request.key_file, Detail::kSummary);
  if (!all) return all.error();
  MarkRow who;
  who.student = request.student;
  who.lab = request.lab;
  const auto found = grade_meant(who, all->grades, request.out);
  if (!found) return found.error();
  const Grade& grade = **found;
  const std::string place = grade.lab + ":" + std::to_string(request.line);
  std::string line = line_of_submission(request.out, grade.submission_sha256, request.line);
  if (line.empty() && !request.text.empty())
    return wrong_row(who, place, "there is no such line, or nothing in it",
                     "a line of the kernel.cu that counts for " + course::shown_student(grade));
  auto ledger = ledger::Ledger::open(request.out, {.key_file = request.key_file});
  if (!ledger) return ledger.error();
  const auto kept = ledger->comment(
      {grade.student, grade.lab, request.line, request.text, now_text(), grade.submission_sha256});
  if (!kept) return kept.error();
  return base::printable(line);
}

namespace {

/// What a person decided: same texts, same verdict is no change, whoever asked.
std::string decision(const Grade& before, const Grade& after) {
  if (after.mark && (!before.mark || before.mark->marked_at != after.mark->marked_at))
    return "marked by hand";
  if (after.undecided()) return "a person must decide";
  if (!after.verdict) return "nothing was submitted";
  const bool same = before.verdict == after.verdict && before.score == after.score;
  return same ? "unchanged" : "changed";
}

}  // namespace

base::Result<std::vector<RegradeRequest>> read_requests(std::string_view text,
                                                        const std::string& file_name,
                                                        const std::vector<course::Lab>& labs) {
  const auto table = base::read_csv(text, file_name);
  if (!table) return table.error();
  const auto who = intake::student_column(*table);
  const auto lab = table->column("lab"), reason = table->column("reason");
  if (!who || !lab) {
    return base::Error{base::ErrorKind::kInput, file_name, "a column is missing",
                       "student, lab and, if you like, reason",
                       "write \"student,lab,reason\" above the first row"};
  }
  std::vector<RegradeRequest> requests;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const auto& row = table->rows[i];
    RegradeRequest request{row[*who], "", reason ? row[*reason] : ""};
    if (!row[*lab].empty()) {
      const auto found =
          intake::lab_meant(row[*lab], labs, file_name + ", row " + std::to_string(i + 2));
      if (!found) return found.error();
      request.lab = *found;
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

std::string decisions_csv(const std::vector<RegradeRequest>& requests,
                          const std::vector<Grade>& before, const std::vector<Grade>& after) {
  base::CsvTable table;
  table.header = {"student",        "lab",          "reason",
                  "verdict_before", "score_before", "verdict_after",
                  "score_after",    "decision",     "note"};
  for (const RegradeRequest& request : requests) {
    const auto now = meant(after, request.student, request.lab);
    if (now.empty())
      table.rows.push_back({request.student, request.lab, request.reason, "", "", "", "",
                            "nobody of that name has a grade for it", ""});
    for (const Grade* grade : now) {
      const auto then = meant(before, grade->student, grade->lab);
      const Grade& old = then.empty() ? *grade : *then.front();
      table.rows.push_back({grade->student, grade->lab, request.reason, verdict_words(old),
                            score_words(old.score), verdict_words(*grade),
                            score_words(grade->score), decision(old, *grade), grade->note});
    }
  }
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

}  // namespace membound::queue
