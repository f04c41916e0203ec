// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/outputs.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/queue/audit.hpp"
#include "grader/classroom/queue/hand_marks.hpp"
#include "grader/course/grade.hpp"
#include "grader/course/json_io.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using course::Grade;
using course::GradeVerdict;

void join(std::string& note, const std::string& more) {
  if (!more.empty()) note += (note.empty() ? "" : "; ") + more;
}

/// The half of a grade that the plan knows.
void take_row(const Row& row, Grade& grade) {
  grade.student = row.student;
  grade.student_name = row.name;
  grade.student_email = row.email;
  grade.platform = row.platform;
  grade.platform_id = row.platform_id;
  grade.lab = row.lab;
  grade.origin = row.origin;
  grade.submitted_at = row.submitted_at;
  grade.time_from = row.time_from;
  grade.late_by_seconds = row.late_by_seconds;
  grade.late_factor = row.late_factor;
  grade.attempt = row.attempt;
}

/// A row that no run decides.
Grade without_run(const Plan& plan, const Row& row) {
  Grade grade;
  take_row(row, grade);
  grade.result.lab = row.lab;
  grade.submission_sha256 = row.submission_sha256;
  const auto lab = plan.labs.find(row.lab);
  if (lab != plan.labs.end()) {
    grade.max_score = lab->second.max_score;
    grade.digests = lab->second.digests;
  }
  grade.score = 0;
  if (!row.refused.empty()) {
    grade.verdict = GradeVerdict::kPolicyReject;
    grade.note = row.refused;
  }
  join(grade.note, row.note);
  join(grade.note, row.late_note);
  join(grade.note, course::late_text(grade));
  return grade;
}

Grade with_verdict(const Row& row, const Grade& decided) {
  Grade grade = decided;
  take_row(row, grade);
  if (grade.score) grade.score = *grade.score * row.late_factor;
  grade.note = row.note;
  join(grade.note, decided.note);
  join(grade.note, row.late_note);
  join(grade.note, course::late_text(grade));
  return grade;
}

Grade quarantined(const Plan& plan, const Row& row) {
  Grade grade = without_run(plan, row);
  grade.verdict = GradeVerdict::kInfraError;
  grade.score.reset();
  join(grade.note,
       "in quarantine: the grader died more than once while grading it; "
       "membound grade --regrade tries again");
  return grade;
}

/// Percent of the points that being late costs; empty for what is in time.
std::string late_percent(const Grade& grade) {
  return grade.late_by_seconds > 0 ? short_decimal(100 * (1 - grade.late_factor), 2) : "";
}

/// A score before none, a higher one before a lower.
bool better(const Grade& a, const Grade& b) {
  if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
  return a.score.value_or(0) > b.score.value_or(0);
}

/// Rows and verdicts, student by student.
class Joining {
 public:
  Joining(const Plan& plan, const ledger::Verdicts& verdicts, Detail detail)
      : plan_(plan), verdicts_(verdicts), detail_(detail), marks_(last_marks(verdicts.marks)) {
    if (detail == Detail::kWhole) return;
    for (const Job& job : plan.jobs)
      if (const auto grade = verdicts.grades.find(job.key); grade != verdicts.grades.end())
        shortened_.emplace(job.key, shortened(with_audits(job.key, grade->second, verdicts)));
  }

  /// `take(grades, open rows)` for each student, in the plan's order.
  template <typename Take>
  void for_each_student(Take take) const {
    std::vector<Grade> grades;
    std::vector<Row> open;
    for (std::size_t i = 0; i < plan_.rows.size(); ++i) {
      const Row& row = plan_.rows[i];
      add(row, grades, open);
      if (i + 1 < plan_.rows.size() && plan_.rows[i + 1].student == row.student) continue;
      // A mark is for the lab, whichever attempt would count.
      for (Grade& grade : grades)
        if (const auto mark = marks_.find({grade.student, grade.lab}); mark != marks_.end())
          apply_mark(mark->second, basis_of(plan_, grade.student, grade.lab), grade);
      take(std::exchange(grades, {}), std::exchange(open, {}));
    }
  }

 private:
  [[nodiscard]] Grade shortened(Grade grade) const {
    if (detail_ == Detail::kSummary) {
      grade.result = {.title = std::move(grade.result.title)};
      grade.fingerprint.clear();
    }
    for (course::StageResult& stage : grade.result.stages) {
      stage.timings = {};
      stage.kernels = {};
      stage.profiles = {};
      if (stage.passed()) stage.source_lines = {};
    }
    return grade;
  }

  void add(const Row& row, std::vector<Grade>& grades, std::vector<Row>& open) const {
    const bool whole = detail_ == Detail::kWhole;
    const auto& known = whole ? verdicts_.grades : shortened_;
    Grade grade;
    if (row.job.empty()) {
      grade = without_run(plan_, row);
    } else if (const auto found = known.find(row.job); found != known.end()) {
      grade =
          with_verdict(row, whole ? with_audits(row.job, found->second, verdicts_) : found->second);
    } else if (verdicts_.quarantined.contains(row.job)) {
      grade = quarantined(plan_, row);
    } else {
      open.push_back(row);
      return;
    }
    if (grades.empty() || grades.back().lab != grade.lab)
      grades.push_back(std::move(grade));
    else if (!plan_.best_attempt || better(grade, grades.back()))
      grades.back() = std::move(grade);
  }

  const Plan& plan_;
  const ledger::Verdicts& verdicts_;
  const Detail detail_;
  const Marks marks_;
  std::map<std::string, Grade> shortened_;
};

/// What says that the files there are those of the plan in `out` and a ledger, and unchanged; an
/// error where one is missing.
base::Result<std::string> stamp_of(const fs::path& out, const ledger::Verdicts& verdicts) {
  std::string stamp = verdicts.state + "\n";
  for (const char* name : {"batch.json", "grades.csv", "course.csv"}) {
    const auto text = base::read_file(out / name);
    if (!text) return text.error();
    stamp += base::sha256(*text) + "\n";
  }
  return stamp;
}

bool is_written(const fs::path& out, const ledger::Verdicts& verdicts) {
  const auto stamp = base::read_file(out / "outputs.stamp");
  const auto now = stamp_of(out, verdicts);
  return stamp && now && *stamp == *now;
}

}  // namespace

std::string short_decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  std::string short_text = text;
  if (short_text.find('.') != std::string::npos) {
    short_text.erase(short_text.find_last_not_of('0') + 1);
    if (short_text.ends_with('.')) short_text.pop_back();
  }
  return short_text;
}

ClassGrades class_grades(const Plan& plan, const ledger::Verdicts& verdicts, Detail detail) {
  ClassGrades all;
  for (const auto& [lab, planned] : plan.labs)
    if (const auto points = plan.rules.of(lab).points) all.worth[lab] = *points;
  const Joining joining(plan, verdicts, detail);
  joining.for_each_student([&all](std::vector<Grade> grades, std::vector<Row> open) {
    std::move(grades.begin(), grades.end(), std::back_inserter(all.grades));
    std::move(open.begin(), open.end(), std::back_inserter(all.open));
  });
  return all;
}

base::Result<ClassGrades> read_class(const fs::path& out, const fs::path& key_file, Detail detail) {
  const auto plan = read_plan(out);
  if (!plan) return plan.error();
  if (!*plan) {
    return base::Error{base::ErrorKind::kUsage, out.string(), "no class was graded here",
                       "the folder that membound grade wrote (--out)", ""};
  }
  const auto verdicts = ledger::read_verdicts(out, key_file);
  if (!verdicts) return verdicts.error();
  return class_grades(**plan, *verdicts, detail);
}

std::string grades_csv(const ClassGrades& all) {
  base::CsvTable table;
  table.header = {"student", "lab",   "score",  "max_score",         "late",
                  "verdict", "ratio", "device", "submission_sha256", "graded_at",
                  "note",    "audit"};
  for (const Grade& grade : all.grades) {
    table.rows.push_back(
        {grade.student, grade.lab, grade.score ? short_decimal(*grade.score, 2) : "",
         short_decimal(grade.max_score, 2), late_percent(grade),
         grade.verdict ? std::string(course::to_string(*grade.verdict)) : "",
         grade.ratio ? short_decimal(*grade.ratio, 4) : "", grade.device, grade.submission_sha256,
         grade.graded_at, grade.note, course::audit_text(grade.audit)});
  }
  for (const Row& row : all.open)
    table.rows.push_back({row.student, row.lab, "", "", "", "", "", "", row.submission_sha256, "",
                          "not graded yet", ""});
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

std::string course_csv(const ClassGrades& all) {
  const course::CourseTable course = course::course_table(all.grades, all.worth);
  base::CsvTable table;
  table.header = {"student", "name", "email"};
  for (const auto& column : course.labs) table.header.push_back(column.lab);
  table.header.insert(table.header.end(), {"total", "maximum", "withheld"});
  for (const course::CourseRow& row : course.rows) {
    std::vector<std::string> cells = {row.any->student, row.any->student_name,
                                      row.any->student_email};
    for (const course::CourseCell& cell : row.cells)
      cells.push_back(cell.points ? short_decimal(*cell.points) : cell.grade ? "" : "0");
    cells.insert(cells.end(), {short_decimal(row.total), short_decimal(course.worth),
                               std::to_string(row.withheld)});
    table.rows.push_back(std::move(cells));
  }
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

base::Status write_outputs(const fs::path& out, const Plan& plan,
                           const ledger::Verdicts& verdicts) {
  if (is_written(out, verdicts)) return base::Done{};
  std::set<std::string> written;
  base::Status status = base::Done{};
  Joining(plan, verdicts, Detail::kWhole)
      .for_each_student([&](std::vector<Grade> grades, const std::vector<Row>&) {
        if (grades.empty() || !status) return;
        // A student may see the file, and hand in once more: those blocks are timed again then.
        for (Grade& grade : grades) grade.sample_seed = 0;
        const std::string name = base::file_name(grades.front().student) + ".json";
        status =
            base::write_durably(out / "students" / name,
                                course::dump_safely(nlohmann::json(grades), 1) + "\n", "report");
        written.insert(name);
      });
  if (!status) return status;
  // Files of students who are no longer in the plan.
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator entry(out / "students", error), end; !error && entry != end;
       entry.increment(error))
    if (!written.contains(entry->path().filename().string())) old.push_back(entry->path());
  for (const fs::path& file : old) fs::remove(file, error);
  const ClassGrades all = class_grades(plan, verdicts, Detail::kSummary);
  const std::string course = course_csv(all), grades = grades_csv(all);
  for (const auto& [name, text] :
       {std::pair<const char*, const std::string&>("course.csv", course), {"grades.csv", grades}}) {
    status = base::write_durably(out / name, text, "report");
    if (!status) return status;
  }
  const auto stamp = stamp_of(out, verdicts);
  if (!stamp) return stamp.error();
  return base::write_durably(out / "outputs.stamp", *stamp, "report");
}

}  // namespace membound::queue
