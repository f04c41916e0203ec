// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/grade.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/course/json_io.hpp"

namespace membound::course {

bool AuditedStage::takes_points() const {
  const GradeVerdict grade = row_of(verdict).grade;
  return grade == GradeVerdict::kFailWrong || grade == GradeVerdict::kCrash;
}

int Audit::decided() const {
  return static_cast<int>(std::count_if(stages.begin(), stages.end(), [](const auto& stage) {
    return stage.right() || stage.takes_points();
  }));
}

std::string audit_text(const std::optional<Audit>& audit) {
  if (!audit || audit->earned == 0) return "";
  std::string text = std::to_string(audit->decided()) + " of " + std::to_string(audit->earned) +
                     (audit->earned == 1 ? " stage" : " stages");
  std::string wrong, others;
  for (const AuditedStage& stage : audit->stages) {
    if (stage.takes_points())
      wrong += (wrong.empty() ? "; wrong in stage " : ", ") + std::to_string(stage.stage);
    else if (!stage.right())
      others += "; stage " + std::to_string(stage.stage) + ": " +
                std::string(row_of(stage.verdict).words);
  }
  return text + wrong + others;
}

MEMBOUND_JSON(AuditedStage, stage, verdict, note, seconds)
MEMBOUND_JSON(Audit, earned, stages)

namespace {

using nlohmann::json;

/// The lowest ratio among the stages that are right.
std::optional<double> slowest_ratio(const Result& result) {
  std::optional<double> slowest;
  for (const StageResult& stage : result.stages)
    if (stage.correct && stage.ratio && (!slowest || *stage.ratio < *slowest))
      slowest = stage.ratio;
  return slowest;
}

/// 16 digits for each: JSON's own numbers lose bits in many readers.
std::string hex_of(const std::vector<std::uint64_t>& numbers) {
  std::string text;
  for (const std::uint64_t number : numbers) {
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
    text += digits.data();
  }
  return text;
}

std::vector<std::uint64_t> numbers_of(const std::string& text) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i + 16 <= text.size(); i += 16)
    std::from_chars(text.data() + i, text.data() + i + 16, numbers.emplace_back(), 16);
  return numbers;
}

}  // namespace

GradeVerdict grade_verdict_of(const Result& result) {
  if (result.stages.empty()) return GradeVerdict::kInfraError;
  GradeVerdict worst = GradeVerdict::kPass;
  for (const StageResult& stage : result.stages)
    worst = std::max(worst, row_of(stage.verdict).grade);
  return worst;
}

Grade Grade::missing(std::string student, const Lab& lab) {
  Grade grade;
  grade.student = std::move(student);
  grade.lab = lab.id;
  grade.score = 0;
  grade.max_score = lab.max_points();
  grade.attempt = 0;
  grade.note = "nothing submitted";
  return grade;
}

void Grade::take(Result finished, const Lab& for_lab) {
  result = std::move(finished);
  lab = for_lab.id;
  max_score = for_lab.max_points();
  verdict = grade_verdict_of(result);
  ratio = slowest_ratio(result);
  device = result.device.short_name();
  seed = result.seed;
  if (!result.submission_sha256.empty()) submission_sha256 = result.submission_sha256;
  score.reset();
  if (row_of(*verdict).has_score) score = result.points() * late_factor;
}

void Grade::take_audit(Audit audited, const std::vector<StageResult>& found) {
  audit = std::move(audited);
  bool changed = false;
  for (const StageResult& wrong : found) {
    const auto stage =
        std::find_if(result.stages.begin(), result.stages.end(),
                     [&wrong](const auto& other) { return other.stage == wrong.stage; });
    if (stage == result.stages.end()) continue;
    stage->verdict = wrong.verdict;
    stage->correct = false;
    stage->points = 0;
    stage->findings = wrong.findings;
    for (const TestOutcome& test : wrong.tests)
      if (test.failed()) stage->tests.push_back(test);
    verdict = std::max(verdict.value_or(GradeVerdict::kPass), row_of(wrong.verdict).grade);
    changed = true;
  }
  if (!changed) return;
  ratio = slowest_ratio(result);
  score.reset();
  if (row_of(*verdict).has_score) score = result.points() * late_factor;
}

bool Grade::earned_by_prediction(const StageResult& stage) const {
  return is_virtual_device(device) && stage.ratio && stage.points > 0 &&
         *stage.ratio >= stage.pass_ratio && stage.verdict != Verdict::kOverBudget;
}

void Grade::end(GradeVerdict without_result, std::string why, const Lab& for_lab) {
  lab = for_lab.id;
  max_score = for_lab.max_points();
  verdict = without_result;
  note = std::move(why);
  ratio.reset();
  score.reset();
  if (row_of(without_result).has_score) score = 0;
}

namespace {

/// As a person says it: "40 seconds", "16 minutes", "25 hours 30 minutes", "3 days 4 hours".
std::string duration_text(std::int64_t seconds) {
  constexpr std::int64_t kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  const auto both = [](std::int64_t large, const char* what, std::int64_t small, const char* rest) {
    return base::counted(large, what) + (small > 0 ? " " + base::counted(small, rest) : "");
  };
  if (seconds < kMinute) return base::counted(seconds, "second");
  if (seconds < 2 * kHour) return base::counted(seconds / kMinute, "minute");
  if (seconds < 2 * kDay) return both(seconds / kHour, "hour", seconds % kHour / kMinute, "minute");
  return both(seconds / kDay, "day", seconds % kDay / kHour, "hour");
}

}  // namespace

std::string short_decimal(double value, int digits) {
  std::string text = base::decimal(value, digits);
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text;
}

std::string late_text(const Grade& grade) {
  if (grade.late_by_seconds <= 0) return "";
  std::string text = duration_text(grade.late_by_seconds + grade.grace_seconds) + " late";
  if (grade.grace_seconds > 0)
    text += ", " + duration_text(grade.grace_seconds) + " of it forgiven";
  if (grade.closed) return text + ": after the last date, it counts nothing";
  const double lost = 1 - grade.late_factor;
  if (grade.late_days_free == 0 && lost <= 0) return text;
  text += ": ";
  if (grade.late_days > 0) text += base::counted(grade.late_days, "day") + " begun, ";
  if (grade.late_days_free > 0)
    text += std::to_string(grade.late_days_free) + " of the student's free late days used, ";
  return text +
         (lost > 0 ? short_decimal(100 * lost) + " % of the points deducted" : "nothing deducted");
}

std::string shown_student(const Grade& grade) {
  if (grade.student_name.empty()) return grade.student;
  return grade.student_name + " (" + grade.student + ")";
}

MEMBOUND_JSON(GradeDigests, harness, toolchain, lab, limits)
MEMBOUND_JSON(StageMark, stage, points, comment, marked_at, automatic_points)
MEMBOUND_JSON(HandMark, points, comment, marked_at, automatic_score, stages)
MEMBOUND_JSON(WriteUpMark, item, points, comment)
MEMBOUND_JSON(BestOf, count, labs)
MEMBOUND_JSON(Counting, weights, best, stages, write_ups)
MEMBOUND_FIELDS(Grade, student, student_name, student_email, platform, platform_id, lab, verdict,
                score, max_score, mark, write_up, audit, ratio, device, submission_sha256, origin,
                submitted_at, time_from, graded_at, late_by_seconds, late_factor, grace_seconds,
                late_days, late_days_free, closed, section, group, unmatched, may_be, attempt, note,
                seed, seed_key, sample_seed, digests, reference_sha256, limits_in_force, result)

void to_json(json& out, const Grade& value) {
  write_fields(out, value);
  out["schema"] = Grade::kSchema;
  write_field(out, "excused", value.excused);
  out["fingerprint"] = hex_of(value.fingerprint);
}

void from_json(const json& in, Grade& value) {
  require_fields(in, {"student", "lab", "result"});
  read_fields(in, value);
  read_field(in, "excused", value.excused);
  std::string fingerprint;
  read_field(in, "fingerprint", fingerprint);
  value.fingerprint = numbers_of(fingerprint);
}

std::string to_text(const Grade& grade) { return dump_safely(json(grade), 2) + "\n"; }

base::Result<Grade> grade_from_text(const std::string& text, const std::string& file_name) {
  try {
    return json::parse(text).get<Grade>();
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::kInput, file_name,
                       std::string("not a grade: ") + error.what(),
                       "a file that membound grade wrote (docs/grade.schema.json)",
                       "membound grade --regrade STUDENT makes it anew"};
  }
}

double scaled(double points, double maximum, double worth) {
  return maximum > 0 ? points * worth / maximum : 0;
}

namespace {

std::vector<CourseTable::Column> columns_of(std::span<const Grade> grades,
                                            const std::map<std::string, double>& worth,
                                            const Counting& counting) {
  std::map<std::string, CourseTable::Column> labs;
  for (const Grade& grade : grades) {
    CourseTable::Column& column = labs[grade.lab];
    column.lab = grade.lab;
    if (column.title.empty()) column.title = grade.result.title;
    column.worth = std::max(column.worth, grade.max_score);
  }
  std::vector<CourseTable::Column> columns;
  for (auto& [lab, column] : labs) {
    const auto weight = counting.weights.find(lab);
    if (weight != counting.weights.end()) {
      column.weight = weight->second;
      column.worth = kWeighedWorth;
    }
    if (const auto own = worth.find(lab); own != worth.end()) column.worth = own->second;
    columns.push_back(std::move(column));
  }
  return columns;
}

/// For each rule of best ones the columns that it is about.
std::vector<std::vector<std::size_t>> columns_of_rules(const CourseTable& table,
                                                       const Counting& counting) {
  std::vector<std::vector<std::size_t>> rules;
  const auto is_named = [&counting](const std::string& lab) {
    return std::any_of(counting.best.begin(), counting.best.end(), [&lab](const BestOf& rule) {
      return std::find(rule.labs.begin(), rule.labs.end(), lab) != rule.labs.end();
    });
  };
  for (const BestOf& rule : counting.best) {
    std::vector<std::size_t>& columns = rules.emplace_back();
    for (std::size_t i = 0; i < table.labs.size(); ++i) {
      const std::string& lab = table.labs[i].lab;
      const bool own = std::find(rule.labs.begin(), rule.labs.end(), lab) != rule.labs.end();
      if (rule.labs.empty() ? !is_named(lab) : own) columns.push_back(i);
    }
  }
  return rules;
}

/// The part that a student has of what a lab is worth.
double share_of(const CourseTable& table, const CourseRow& row, std::size_t i) {
  return table.labs[i].worth > 0 ? row.cells[i].points.value_or(0) / table.labs[i].worth : 0;
}

/// Leaves out those of the rule's labs that have less than others by `share`.
template <typename Share>
void drop_lowest(std::vector<std::size_t> columns, int count, const Share& share, CourseRow& row) {
  std::erase_if(columns, [&row](std::size_t i) { return row.cells[i].part == Part::kExcused; });
  std::stable_sort(columns.begin(), columns.end(),
                   [&share](std::size_t a, std::size_t b) { return share(a) > share(b); });
  for (std::size_t i = static_cast<std::size_t>(count); i < columns.size(); ++i)
    row.cells[columns[i]].part = Part::kDropped;
}

void add_up(const CourseTable& table, CourseRow& row) {
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const CourseCell& cell = row.cells[i];
    // A score that is withheld may yet be one of the best.
    if (cell.grade != nullptr && cell.grade->undecided()) ++row.withheld;
    if (cell.part != Part::kCounts) continue;
    row.total += cell.points.value_or(0) * table.labs[i].weight;
    row.worth += table.labs[i].worth * table.labs[i].weight;
  }
}

}  // namespace

CourseTable course_table(std::span<const Grade> grades, const std::map<std::string, double>& worth,
                         const Counting& counting) {
  CourseTable table;
  table.labs = columns_of(grades, worth, counting);
  std::map<std::string, std::size_t> places;
  CourseRow nobody;  // excused from nothing
  for (const CourseTable::Column& column : table.labs) {
    places[column.lab] = nobody.cells.size();
    nobody.cells.emplace_back();
    table.has_weights = table.has_weights || counting.weights.contains(column.lab);
  }
  const auto rules = columns_of_rules(table, counting);
  const auto finish = [&](CourseRow& row, const auto& share) {
    for (std::size_t i = 0; i < rules.size(); ++i)
      drop_lowest(rules[i], counting.best[i].count, share, row);
    add_up(table, row);
  };
  // Labs of one rule may be worth different points: the dearest ones count here.
  finish(nobody, [&](std::size_t i) { return table.labs[i].worth * table.labs[i].weight; });
  table.worth = nobody.worth;
  std::map<std::string, CourseRow> rows;
  for (const Grade& grade : grades) {
    CourseRow& row = rows[grade.student];
    if (row.any == nullptr || row.any->student_name.empty()) row.any = &grade;
    row.cells.resize(table.labs.size());
    const std::size_t place = places[grade.lab];
    CourseCell& cell = row.cells[place];
    cell.grade = &grade;
    if (grade.excused) cell.part = Part::kExcused;
    if (grade.score) cell.points = scaled(*grade.score, grade.max_score, table.labs[place].worth);
  }
  for (auto& entry : rows) {
    CourseRow& row = entry.second;
    finish(row, [&](std::size_t i) { return share_of(table, row, i); });
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string write_up_text(const std::vector<WriteUpMark>& marks) {
  if (marks.empty()) return "";
  double points = 0, most = 0;
  int open = 0;
  for (const WriteUpMark& mark : marks) {
    points += mark.points.value_or(0);
    most += mark.item.points;
    open += mark.points ? 0 : 1;
  }
  return short_decimal(points) + " of " + short_decimal(most) + " points" +
         (open == 0 ? "" : ", " + base::counted(open, "thing") + " not marked yet");
}

std::string total_text(const CourseTable& table, const CourseRow& row) {
  std::string sum, others;
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const CourseCell& cell = row.cells[i];
    const bool open = cell.grade != nullptr && cell.grade->undecided();
    const std::string points = open ? "?" : short_decimal(cell.points.value_or(0));
    if (cell.part == Part::kCounts) {
      base::add_word(sum, points, " + ");
      if (table.has_weights) sum += " × " + short_decimal(table.labs[i].weight);
      continue;
    }
    others += (others.empty() ? "; left out: " : ", ") + table.labs[i].lab +
              (cell.part == Part::kExcused ? " (excused)" : " (" + points + ", others are better)");
  }
  return (sum.empty() ? "0" : sum) + " = " + short_decimal(row.total) + " of " +
         short_decimal(row.worth) + others;
}

}  // namespace membound::course
