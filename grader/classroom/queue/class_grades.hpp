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
  std::vector<course::Grade> grades;              ///< by student and lab; one for each of both
  course::Counting counting;                      ///< how they become totals
  std::vector<ForgottenPeople::Grade> forgotten;  ///< of people who are none of the others
  std::vector<Row> left_out;                      ///< not graded, because of a limit; each says why
  std::vector<Row> open;                          ///< not graded yet
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

/// The grades that words of a command line or table mean: id, name or email; an empty lab means
/// all.
[[nodiscard]] std::vector<const course::Grade*> meant(const std::vector<course::Grade>& grades,
                                                      const std::string& student,
                                                      const std::string& lab);

/// "FAIL_SLOW", "nothing submitted".
[[nodiscard]] std::string verdict_words(const course::Grade& grade);

/// Seconds of grading that each student's verdicts took, each text once.
[[nodiscard]] std::map<std::string, double> seconds_spent(const Plan& plan,
                                                          const ledger::Verdicts& verdicts);

/// What the stages of a lab are worth, by their numbers: what course.yml says, else what they add
/// up from. Empty for a lab that an older version planned.
[[nodiscard]] std::map<int, double> stage_points(const Plan& plan, const std::string& lab);

}  // namespace membound::queue
