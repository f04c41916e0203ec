// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/hand_marks.hpp"

#include <cmath>
#include <set>

#include "grader/base/csv.hpp"
#include "grader/base/digest.hpp"
#include "grader/classroom/intake/course_rules.hpp"
#include "grader/classroom/intake/lab_names.hpp"
#include "grader/classroom/queue/batch_jobs.hpp"

namespace membound::queue {
namespace {

using course::Grade;

std::string points_of(const Grade& grade) {
  return grade.score ? short_decimal(*grade.score) : "withheld";
}

std::string verdict_of(const Grade& grade) {
  return grade.verdict ? std::string(course::to_string(*grade.verdict)) : "nothing submitted";
}

/// The grades that words of a command line or table mean.
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

/// What a person decided: same texts, same verdict is no change, whoever asked.
std::string decision(const Grade& before, const Grade& after) {
  if (after.mark && (!before.mark || before.mark->marked_at != after.mark->marked_at))
    return "marked by hand";
  if (after.withheld()) return "a person must decide";
  if (!after.verdict) return "nothing was submitted";
  const bool same = before.verdict == after.verdict && before.score == after.score;
  return same ? "unchanged" : "changed";
}

}  // namespace

Marks last_marks(const std::vector<ledger::Mark>& all) {
  Marks marks;
  for (const ledger::Mark& mark : all) marks[{mark.student, mark.lab}] = mark;
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

void apply_mark(const ledger::Mark& mark, const std::string& basis, Grade& grade) {
  if (!mark.points) return;
  const auto add = [&grade](const std::string& text) {
    grade.note = text + (grade.note.empty() ? "" : "; " + grade.note);
  };
  if (mark.basis != basis) {
    add("the mark by hand of " + mark.marked_at + " was for other work");
    return;
  }
  grade.mark = course::HandMark{*mark.points, mark.comment, mark.marked_at, grade.score};
  const std::string automatic = points_of(grade);
  grade.score = *mark.points;
  add("marked by hand" + (mark.comment.empty() ? "" : ": " + mark.comment) +
      " (automatic score: " + automatic + ")");
}

base::Result<Grade> mark_by_hand(const MarkRequest& request) {
  const auto bad = [&](const std::string& where, const std::string& found,
                       const std::string& expected, const std::string& advice) {
    return base::Error{base::ErrorKind::kUsage, where, found, expected, advice};
  };
  const auto plan = read_plan(request.out);
  if (!plan) return plan.error();
  const auto before = read_class(request.out, request.key_file);
  if (!before) return before.error();
  const auto found = meant(before->grades, request.student, request.lab);
  if (found.empty())
    return bad(request.student,
               "has no grade in " + request.out.string() +
                   (request.lab.empty() ? "" : " for " + request.lab),
               "a student's id, name or email as in grades.csv", "");
  if (found.size() > 1)
    return bad(request.student,
               found.front()->student == found.back()->student ? "has grades of several labs"
                                                               : "means several students",
               "one student and one lab", "name the id and the lab");
  const Grade& grade = *found.front();
  if (request.points && !(*request.points >= 0 && *request.points <= grade.max_score))
    return bad("--points", short_decimal(*request.points),
               "0 to " + short_decimal(grade.max_score) + " for " + grade.lab, "");
  ledger::Mark mark{grade.student,
                    grade.lab,
                    request.points,
                    request.comment,
                    now_text(),
                    basis_of(**plan, grade.student, grade.lab),
                    ""};
  mark.automatic = verdict_of(grade) + ", " +
                   (grade.mark && !grade.mark->automatic_score ? "withheld" : points_of(grade));
  {
    auto ledger = ledger::Ledger::open(request.out, {.key_file = request.key_file});
    if (!ledger) return ledger.error();
    const auto kept = ledger->mark(mark);
    if (!kept) return kept.error();
    const auto verdicts = ledger::read_verdicts(request.out, request.key_file);
    if (!verdicts) return verdicts.error();
    const auto written = write_outputs(request.out, **plan, *verdicts);
    if (!written) return written.error();
    const auto after = class_grades(**plan, *verdicts, Detail::kSummary);
    return *meant(after.grades, grade.student, grade.lab).front();
  }
}

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
      table.rows.push_back({grade->student, grade->lab, request.reason, verdict_of(old),
                            points_of(old), verdict_of(*grade), points_of(*grade),
                            decision(old, *grade), grade->note});
    }
  }
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

}  // namespace membound::queue
