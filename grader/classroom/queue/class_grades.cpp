// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/class_grades.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/submitted_names.hpp"
#include "grader/classroom/queue/audit.hpp"
#include "grader/classroom/queue/hand_marks.hpp"
#include "grader/classroom/queue/one_submission.hpp"
#include "grader/course/grade.hpp"
#include "grader/course/json_io.hpp"

namespace membound::queue {
namespace {

using course::Grade;

}  // namespace

std::string verdict_words(const Grade& grade) {
  return grade.verdict ? std::string(course::to_string(*grade.verdict)) : "nothing submitted";
}

std::vector<const Grade*> meant(const std::vector<Grade>& grades, const std::string& student,
                                const std::string& lab) {
  std::vector<const Grade*> found;
  for (const Grade& grade : grades) {
    Row row;
    row.student = grade.student;
    row.name = grade.student_name;
    row.email = grade.student_email;
    if (is_meant(row, student) && (lab.empty() || grade.lab == lab)) found.push_back(&grade);
  }
  return found;
}

namespace {

namespace fs = std::filesystem;
using course::GradeVerdict;

/// The half of a grade that the plan knows.
void take_row(const Row& row, Grade& grade) {
  grade.student = row.student;
  grade.intake_note = row.unmatched;
  base::add_note(grade.intake_note, row.note);
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
  grade.grace_seconds = row.grace_seconds;
  grade.late_days = row.late_days;
  grade.closed = row.closed;
  grade.section = row.section;
  grade.group = row.group;
  grade.unmatched = row.unmatched;
  grade.may_be = row.may_be;
  grade.attempt = row.attempt;
}

/// What the lab's stages add up to.
double most_points(const Plan& plan, const std::string& lab, double own) {
  if (!plan.rules.counting.stages.contains(lab)) return own;
  const auto stages = stage_points(plan, lab);
  double sum = 0;
  for (const auto& [stage, points] : stages) sum += points;
  return stages.empty() ? own : sum;
}

/// The grade with stages that are worth what course.yml says.
Grade revalued(const Plan& plan, Grade grade) {
  if (!plan.rules.counting.stages.contains(grade.lab)) return grade;
  const auto points = stage_points(plan, grade.lab);
  double sum = 0;
  for (course::StageResult& stage : grade.result.stages) {
    const auto own = points.find(stage.stage);
    if (own != points.end()) {
      stage.points = course::scaled(stage.points, stage.max_points, own->second);
      stage.max_points = own->second;
    }
    sum += stage.points;
  }
  if (grade.score) grade.score = sum;
  grade.max_score = most_points(plan, grade.lab, grade.max_score);
  return grade;
}

/// A row that no run decides.
Grade without_run(const Plan& plan, const Row& row) {
  Grade grade;
  take_row(row, grade);
  grade.result.lab = row.lab;
  grade.submission_sha256 = row.submission_sha256;
  const auto lab = plan.labs.find(row.lab);
  if (lab != plan.labs.end()) {
    grade.max_score = most_points(plan, row.lab, lab->second.max_score);
    grade.digests = lab->second.digests;
  }
  grade.score = 0;
  if (!row.refused.empty()) {
    grade.verdict = GradeVerdict::kPolicyReject;
    grade.note = row.refused;
  }
  base::add_note(grade.note, row.unmatched);
  base::add_note(grade.note, row.note);
  if (row.attempt == 0 && !row.may_be.empty())
    base::add_note(grade.note, "work of an author who is not known may be this student's: " +
                                   base::joined(row.may_be));
  base::add_note(grade.note, row.late_note);
  base::add_note(grade.note, course::late_text(grade));
  return grade;
}

/// How many of a student's free late days a row uses where `left` are left, and the share of the
/// points that it keeps.
struct LatePrice {
  int free = 0;
  double factor = 1;
};

/// A day is used only where it saves points.
LatePrice late_price(const Plan& plan, const Row& row, const Grade& decided, int left) {
  LatePrice price{0, row.late_factor};
  const bool may_earn = !decided.score || *decided.score > 0;
  if (row.closed || row.late_days == 0 || left == 0 || !may_earn || row.due == 0) return price;
  const int free = std::min(row.late_days, left);
  const double factor = plan.rules.policy(row.lab, {}).factor(row.late_days - free);
  return factor > row.late_factor ? LatePrice{free, factor} : price;
}

Grade with_verdict(const Row& row, const Grade& decided, const LatePrice& price) {
  Grade grade = decided;
  take_row(row, grade);
  grade.late_days_free = price.free;
  grade.late_factor = price.factor;
  if (grade.score) grade.score = *grade.score * price.factor;
  grade.note = row.unmatched;
  base::add_note(grade.note, row.note);
  base::add_note(grade.note, decided.note);
  base::add_note(grade.note, row.late_note);
  base::add_note(grade.note, course::late_text(grade));
  return grade;
}

Grade quarantined(const Plan& plan, const Row& row) {
  Grade grade = without_run(plan, row);
  grade.verdict = GradeVerdict::kInfraError;
  grade.score.reset();
  base::add_note(grade.note,
                 "in quarantine: the grader died more than once while grading it; "
                 "membound grade --regrade tries again");
  return grade;
}

/// Percent of the points that being late costs; empty for what is in time.
std::string late_percent(const Grade& grade) {
  return grade.late_by_seconds > 0 ? course::short_decimal(100 * (1 - grade.late_factor), 2) : "";
}

/// A score before none, a higher one before a lower.
bool better(const Grade& a, const Grade& b) {
  if (a.score.has_value() != b.score.has_value()) return a.score.has_value();
  return a.score.value_or(0) > b.score.value_or(0);
}

/// The verdict of the job `key` with what its audits found: `grade.audit`, and for a stage that is
/// wrong its verdict, points and findings.
Grade with_audits(const std::string& key, Grade grade, const ledger::Verdicts& verdicts) {
  course::Audit audit;
  std::vector<course::StageResult> wrong;
  for (const course::StageResult& stage : grade.result.stages) {
    if (!grade.earned_by_prediction(stage)) continue;
    ++audit.earned;
    const std::string name = audit_key(key, verdicts.rounds.at(key), stage.stage);
    if (verdicts.quarantined.contains(name))
      audit.stages.push_back({stage.stage, course::Verdict::kInfraError,
                              "in quarantine: the grader died more than once during the audit", 0});
    const auto found = verdicts.grades.find(name);
    if (found == verdicts.grades.end() || !found->second.audit) continue;
    for (const course::AuditedStage& one : found->second.audit->stages) {
      audit.stages.push_back(one);
      if (!one.takes_points()) continue;
      for (const course::StageResult& result : found->second.result.stages)
        if (result.stage == one.stage) wrong.push_back(result);
    }
  }
  if (audit.earned == 0) return grade;
  grade.take_audit(std::move(audit), wrong);
  if (wrong.empty()) return grade;
  grade.note = reason(grade);
  base::add_note(grade.note, stages_to_look_at(grade));
  return grade;
}

/// Rows and verdicts, student by student.
class Joining {
 public:
  Joining(const Plan& plan, const ledger::Verdicts& verdicts, Detail detail)
      : plan_(plan), verdicts_(verdicts), detail_(detail), marks_(last_marks(verdicts.marks)) {
    if (plan.rules.limits.seconds_a_student) spent_ = seconds_spent(plan, verdicts);
    if (detail == Detail::kWhole) return;
    for (const auto& [place, marks] : marks_)
      if (!marks.of_stage.empty()) marked_labs_.insert(place.second);
    for (const Job& job : plan.jobs)
      if (const auto grade = verdicts.grades.find(job.key); grade != verdicts.grades.end())
        shortened_.emplace(job.key, shortened(decided(job.key, grade->second)));
  }

  /// `take(grades, open rows)` for each student, in the plan's order.
  template <typename Take>
  void for_each_student(Take take) const {
    for (std::size_t begin = 0, end = 0; begin < plan_.rows.size(); begin = end) {
      while (end < plan_.rows.size() && plan_.rows[end].student == plan_.rows[begin].student) ++end;
      std::vector<Row> open;
      std::vector<Grade> grades = grades_of({plan_.rows.data() + begin, end - begin}, open);
      take(std::move(grades), std::move(open));
    }
  }

  /// Why an attempt is not graded and will not be; empty: it is, or will be.
  [[nodiscard]] std::string why_left_out(const Row& row) const {
    if (!row.left_out.empty()) return row.left_out;
    const auto budget = plan_.rules.limits.seconds_a_student;
    if (!budget || row.job.empty() || verdicts_.grades.contains(row.job) ||
        verdicts_.quarantined.contains(row.job))
      return "";
    const auto spent = spent_.find(row.student);
    if (spent == spent_.end() || spent->second < *budget) return "";
    return "not graded: grading took " + course::short_decimal(spent->second, 0) +
           " s of this student's " + course::short_decimal(*budget, 0) + " s before";
  }

 private:
  /// Nothing of the lab is graded, because the student's budget was used up before: 0 points.
  [[nodiscard]] Grade beyond_budget(const Row& row) const {
    Grade grade = without_run(plan_, row);
    grade.verdict = GradeVerdict::kTimeout;
    grade.note = why_left_out(row) + (grade.note.empty() ? "" : "; " + grade.note);
    return grade;
  }

  /// A verdict with its audits, in the points of this course.
  [[nodiscard]] Grade decided(const std::string& key, const Grade& verdict) const {
    return revalued(plan_, with_audits(key, verdict, verdicts_));
  }

  [[nodiscard]] Grade shortened(Grade grade) const {
    if (detail_ == Detail::kSummary) {
      // What a mark of one stage needs of the others.
      std::vector<course::StageResult> stages;
      for (const course::StageResult& stage : grade.result.stages) {
        if (!marked_labs_.contains(grade.lab)) break;
        course::StageResult& kept = stages.emplace_back();
        kept.stage = stage.stage;
        kept.verdict = stage.verdict;
        kept.points = stage.points;
        kept.max_points = stage.max_points;
      }
      grade.result = {.title = std::move(grade.result.title)};
      grade.result.stages = std::move(stages);
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

  /// One grade for each lab of a student. Free late days are used in the order of due dates,
  /// whichever lab was handed in first.
  [[nodiscard]] std::vector<Grade> grades_of(std::span<const Row> rows,
                                             std::vector<Row>& open) const {
    std::vector<std::span<const Row>> labs;
    for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
      while (end < rows.size() && rows[end].lab == rows[begin].lab) ++end;
      labs.push_back(rows.subspan(begin, end - begin));
    }
    std::stable_sort(labs.begin(), labs.end(),
                     [](const auto& a, const auto& b) { return a.front().due < b.front().due; });
    int left = plan_.rules.late_days.value_or(0);
    std::vector<Grade> grades;
    for (const auto& attempts : labs) {
      std::optional<Grade> counts = counted(attempts, left, open);
      if (!counts) continue;
      left -= counts->late_days_free;
      grades.push_back(*std::move(counts));
    }
    const auto by_lab = [](const auto& a, const auto& b) { return a.lab < b.lab; };
    std::stable_sort(grades.begin(), grades.end(), by_lab);
    std::stable_sort(open.begin(), open.end(), by_lab);
    return grades;
  }

  /// The grade of the attempt that counts, where `left` late days are left; nothing where none is
  /// graded yet.
  [[nodiscard]] std::optional<Grade> counted(std::span<const Row> attempts, int left,
                                             std::vector<Row>& open) const {
    std::optional<Grade> best;
    const Row* beyond = nullptr;
    for (const Row& row : attempts) {
      if (!why_left_out(row).empty()) {
        if (row.left_out.empty()) beyond = &row;
        continue;
      }
      std::optional<Grade> grade = grade_of(row, left);
      if (!grade)
        open.push_back(row);
      else if (!best || !plan_.best_attempt || better(*grade, *best))
        best = std::move(grade);
    }
    if (!best && beyond != nullptr) best = beyond_budget(*beyond);
    if (!best) return best;
    // A mark is for the lab, whichever attempt would count.
    auto mark = marks_.find({best->student, best->lab});
    // It may have been given when the author was not known yet.
    for (const Row& row : attempts)
      if (mark == marks_.end() && !row.former.empty()) mark = marks_.find({row.former, row.lab});
    if (mark != marks_.end())
      apply_mark(mark->second, basis_of(plan_, best->student, best->lab), *best);
    const auto& counted = plan_.rules.counting.write_ups;
    if (std::find(counted.begin(), counted.end(), best->lab) != counted.end())
      apply_write_up(mark == marks_.end() ? LabMarks() : mark->second,
                     basis_of(plan_, best->student, best->lab), plan_.labs.at(best->lab).rubric,
                     *best);
    // What a person decided is not reduced, so that no late day is used for it.
    const bool whole_mark = best->mark && best->mark->stages.empty();
    if (whole_mark || best->excused) best->late_days_free = 0;
    return best;
  }

  [[nodiscard]] std::optional<Grade> grade_of(const Row& row, int left) const {
    if (row.job.empty()) return without_run(plan_, row);
    const bool whole = detail_ == Detail::kWhole;
    const auto& known = whole ? verdicts_.grades : shortened_;
    if (const auto found = known.find(row.job); found != known.end()) {
      const Grade verdict = whole ? decided(row.job, found->second) : found->second;
      return with_verdict(row, verdict, late_price(plan_, row, verdict, left));
    }
    if (verdicts_.quarantined.contains(row.job)) return quarantined(plan_, row);
    return std::nullopt;
  }

  const Plan& plan_;
  const ledger::Verdicts& verdicts_;
  const Detail detail_;
  const Marks marks_;
  std::map<std::string, double> spent_;  // seconds by student, where there is a budget
  std::set<std::string> marked_labs_;    // in which some stage is marked
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

std::map<int, double> stage_points(const Plan& plan, const std::string& lab) {
  std::map<int, double> points;
  const auto planned = plan.labs.find(lab);
  if (planned == plan.labs.end() || planned->second.stages.empty()) return points;
  for (const auto& [stage, own] : planned->second.stages) points[std::stoi(stage)] = own;
  const auto said = plan.rules.counting.stages.find(lab);
  if (said == plan.rules.counting.stages.end()) return points;
  for (const auto& [stage, worth] : said->second) points[std::stoi(stage)] = worth;
  return points;
}

std::map<std::string, double> seconds_spent(const Plan& plan, const ledger::Verdicts& verdicts) {
  std::map<std::string, double> seconds;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Row& row : plan.rows)
    if (const auto grade = verdicts.grades.find(row.job);
        grade != verdicts.grades.end() && seen.emplace(row.student, row.job).second)
      seconds[row.student] += grade->second.result.seconds;
  return seconds;
}

ClassGrades class_grades(const Plan& plan, const ledger::Verdicts& verdicts, Detail detail) {
  ClassGrades all;
  all.counting = plan.rules.counting;
  all.forgotten = plan.forgotten.grades;
  for (const auto& [lab, planned] : plan.labs)
    if (const auto points = plan.rules.of(lab).points) all.worth[lab] = *points;
  all.late_days = plan.rules.late_days;
  const Joining joining(plan, verdicts, detail);
  for (const Row& row : plan.rows) {
    const std::string why = joining.why_left_out(row);
    if (why.empty()) continue;
    all.left_out.push_back(row);
    all.left_out.back().left_out = why;
  }
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
        {grade.student, grade.lab, grade.score ? course::short_decimal(*grade.score, 2) : "",
         course::short_decimal(grade.max_score, 2), late_percent(grade),
         grade.verdict ? std::string(course::to_string(*grade.verdict)) : "",
         grade.ratio ? course::short_decimal(*grade.ratio, 4) : "", grade.device,
         grade.submission_sha256, grade.graded_at, grade.note, course::audit_text(grade.audit)});
  }
  for (const Row& row : all.left_out)
    table.rows.push_back({row.student, row.lab, "", "", "", "", "", "", row.submission_sha256, "",
                          row.left_out, ""});
  for (const Row& row : all.open)
    table.rows.push_back({row.student, row.lab, "", "", "", "", "", "", row.submission_sha256, "",
                          "not graded yet", ""});
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

namespace {

/// Why the row's author is not known, or whose work may be this student's.
std::string unmatched_cell(const course::CourseRow& row) {
  std::set<std::string> works;
  for (const course::CourseCell& cell : row.cells) {
    if (cell.grade == nullptr) continue;
    if (!cell.grade->unmatched.empty()) return cell.grade->unmatched;
    if (!cell.grade->verdict) works.insert(cell.grade->may_be.begin(), cell.grade->may_be.end());
  }
  return works.empty() ? "" : "may be " + base::joined(works);
}

}  // namespace

std::string course_csv(const ClassGrades& all) {
  const course::CourseTable course = course::course_table(all.grades, all.worth, all.counting);
  base::CsvTable table;
  table.header = {"student", "name", "email"};
  for (const auto& column : course.labs) table.header.push_back(column.lab);
  table.header.insert(table.header.end(), {"total", "maximum", "withheld"});
  const bool some_unmatched =
      std::any_of(all.grades.begin(), all.grades.end(),
                  [](const Grade& grade) { return !grade.unmatched.empty(); });
  if (some_unmatched) table.header.emplace_back("unmatched");
  if (all.late_days) table.header.insert(table.header.end(), {"late_days_used", "late_days_left"});
  for (const course::CourseRow& row : course.rows) {
    std::vector<std::string> cells = {row.any->student, row.any->student_name,
                                      row.any->student_email};
    for (const course::CourseCell& cell : row.cells)
      cells.push_back(cell.points ? course::short_decimal(*cell.points) : cell.grade ? "" : "0");
    cells.insert(cells.end(), {course::short_decimal(row.total), course::short_decimal(row.worth),
                               std::to_string(row.withheld)});
    if (some_unmatched) cells.push_back(unmatched_cell(row));
    if (all.late_days) {
      int used = 0;
      for (const course::CourseCell& cell : row.cells)
        used += cell.grade ? cell.grade->late_days_free : 0;
      cells.insert(cells.end(), {std::to_string(used), std::to_string(*all.late_days - used)});
    }
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

base::Result<ClassGrades> write_class(const fs::path& out, const Plan& plan,
                                      const ledger::Verdicts& verdicts, Detail detail) {
  const auto written = write_outputs(out, plan, verdicts);
  if (!written) return written.error();
  return class_grades(plan, verdicts, detail);
}

}  // namespace membound::queue
