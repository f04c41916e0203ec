// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Grades as persons decided them: marks by hand over automatic verdicts, and what became of
/// requests to grade again.
/// Place in the chain: plan, ledger -> [hand_marks] -> outputs, cli.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/ledger/mark.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/course/grade.hpp"

namespace membound::queue {

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
