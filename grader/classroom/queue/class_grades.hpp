// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The grades of a class: a Grade for each row of the plan, with marks by hand over automatic
/// verdicts, as grades.csv, course.csv and students/NAME.json; and what became of requests to grade
/// again. A function of the plan and the verdicts alone, whatever happened between.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/ledger/ledger.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/course/grade.hpp"

namespace membound::queue {

/// The class as far as it is graded.
struct ClassGrades {
  std::vector<course::Grade> grades;    ///< by student and lab; one for each of both
  std::vector<Row> open;                ///< not graded yet
  std::map<std::string, double> worth;  ///< points of labs that count otherwise than they add up
  std::optional<int> late_days = {};    ///< free of charge for each student in all
};

/// How much of each grade is wanted: a class's results are a hundred kilobytes a row.
enum class Detail {
  kWhole,
  kShown,   ///< as pages and platforms show it: stages without what was measured of them
  kSummary  ///< without stages and fingerprint
};

/// Puts rows and verdicts together. Of several attempts the best score counts, where the plan says
/// so; else the plan holds the latest alone.
[[nodiscard]] ClassGrades class_grades(const Plan& plan, const ledger::Verdicts& verdicts,
                                       Detail detail = Detail::kWhole);

/// The grades of the batch in `out`, read from signed files: for `report`, `export` and the like.
[[nodiscard]] base::Result<ClassGrades> read_class(const std::filesystem::path& out,
                                                   const std::filesystem::path& key_file = {},
                                                   Detail detail = Detail::kWhole);

/// "12.5", "100": at most two decimals.
[[nodiscard]] std::string short_decimal(double value, int digits = 2);

/// The text of grades.csv: a header and a row for each student and lab; rows that are not graded
/// yet have no score and say so.
[[nodiscard]] std::string grades_csv(const ClassGrades& all);

/// The text of course.csv: a row for each student, a column for each lab, the total; an empty cell
/// is a withheld score.
[[nodiscard]] std::string course_csv(const ClassGrades& all);

/// Writes grades.csv, course.csv and students/*.json of the plan that is in OUT/batch.json.
/// Holds one student's results at a time, and writes nothing where plan and ledger are those of the
/// files that are there.
[[nodiscard]] base::Status write_outputs(const std::filesystem::path& out, const Plan& plan,
                                         const ledger::Verdicts& verdicts);
/// The same, and the class's grades in this detail.
[[nodiscard]] base::Result<ClassGrades> write_class(const std::filesystem::path& out,
                                                    const Plan& plan,
                                                    const ledger::Verdicts& verdicts,
                                                    Detail detail);

/// The last mark of each student and lab.
using Marks = std::map<std::pair<std::string, std::string>, ledger::Mark>;
[[nodiscard]] Marks last_marks(const std::vector<ledger::Mark>& all);

/// Digest of the texts that a student handed in for a lab.
[[nodiscard]] std::string basis_of(const Plan& plan, const std::string& student,
                                   const std::string& lab);

/// Puts the mark in the place of the automatic score, which stays beside it. A mark of other texts
/// than those that are there now changes nothing but the note.
void apply_mark(const ledger::Mark& mark, const std::string& basis, course::Grade& grade);

struct MarkRequest {
  std::filesystem::path out, key_file;
  std::string student;           ///< id, name or email
  std::string lab;               ///< id; empty: the only one that the student has
  std::optional<double> points;  ///< nothing: takes an earlier mark back
  std::string comment;
};

/// Writes a mark into the ledger and the tables anew. The grade as it is then. An error where
/// nobody is meant, the lab is not said, or the points are none of that lab.
[[nodiscard]] base::Result<course::Grade> mark_by_hand(const MarkRequest& request);

/// Somebody asks for a verdict to be looked at again.
struct RegradeRequest {
  std::string student, lab;  ///< the lab's id; empty: every lab of the student
  std::string reason;
};

/// A table with the columns student (or id, email), lab and, if you like, reason.
[[nodiscard]] base::Result<std::vector<RegradeRequest>> read_requests(
    std::string_view text, const std::string& file_name, const std::vector<course::Lab>& labs);

/// A row for each request: what it was before, what it is now, and in a word what was decided.
[[nodiscard]] std::string decisions_csv(const std::vector<RegradeRequest>& requests,
                                        const std::vector<course::Grade>& before,
                                        const std::vector<course::Grade>& after);

}  // namespace membound::queue
