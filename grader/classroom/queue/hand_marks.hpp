// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a person decides about a student's lab: points for all of it or for one stage, that it is
/// excused, a comment at a line of what was handed in. One at a time, or a table of them at once;
/// and what became of requests to grade again.
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

/// What stands of the marks of one student and lab.
struct LabMarks {
  std::optional<ledger::Mark> whole;            ///< for the whole lab: points, or excused
  std::map<int, ledger::Mark> of_stage;         ///< made after `whole`, which is then nothing
  std::map<std::string, ledger::Mark> of_item;  ///< of the write-up; likewise
};

/// By student and lab. A mark for the whole lab, or taking it back, ends all that came before.
using Marks = std::map<std::pair<std::string, std::string>, LabMarks>;
[[nodiscard]] Marks last_marks(const std::vector<ledger::Mark>& all);

/// Digest of the texts that a student handed in for a lab.
[[nodiscard]] std::string basis_of(const Plan& plan, const std::string& student,
                                   const std::string& lab);

/// Puts the marks into the place of the automatic score, which stays beside them, and their note
/// into the place of the verdict's and of lateness; its intake_note stays. A mark of other texts
/// than those that are there now changes nothing but the note; an excused lab is excused whatever
/// was handed in. `grade` needs the points and verdicts of its stages where stages are marked.
void apply_mark(const LabMarks& marks, const std::string& basis, course::Grade& grade);

/// Adds what the write-up earned to the scores, where the class counts it. What a person decided
/// for the whole lab holds for its write-up, too.
void apply_write_up(const LabMarks& marks, const std::string& basis,
                    const std::vector<course::RubricItem>& rubric, course::Grade& grade);

/// One decision.
struct MarkRow {
  std::string student;           ///< id, name or email
  std::string lab;               ///< id
  int stage = 0;                 ///< 0: the whole lab, or its write-up
  std::optional<double> points;  ///< nothing: excused, or takes an earlier mark back
  std::string comment;
  bool excused = false;
  std::string where;      ///< for messages: "marks.csv, row 3"; empty: the command line
  std::string item = {};  ///< of the write-up's rubric; empty: the lab or the stage
};

struct MarkRequest {
  std::filesystem::path out, key_file;
  std::vector<MarkRow> rows;
};

/// Writes the marks into the ledger, all or none, and the tables anew. The grades as they are then,
/// one for each row. An error where nobody is meant, the lab or stage is none, or the points are
/// none of it.
[[nodiscard]] base::Result<std::vector<course::Grade>> mark_by_hand(const MarkRequest& request);

/// A table with the columns student (or id, email), lab and points, and if you like stage, item,
/// comment and excused (yes or no). The word "automatic" as points takes earlier marks back.
[[nodiscard]] base::Result<std::vector<MarkRow>> read_marks_table(
    std::string_view text, const std::string& file_name, const std::vector<course::Lab>& labs);

struct CommentRequest {
  std::filesystem::path out, key_file;
  std::string student;  ///< id, name or email
  std::string lab;      ///< id
  int line = 0;         ///< of kernel.cu, from 1
  std::string text;     ///< empty: takes an earlier comment at that line back
};

/// Writes a comment at a line of the text that counts into the ledger. The line's own text. An
/// error where nobody is meant, nothing was handed in, or the text has no such line.
[[nodiscard]] base::Result<std::string> comment_line(const CommentRequest& request);

/// The line of a text that OUT keeps; empty where that has no such line.
[[nodiscard]] std::string line_of_submission(const std::filesystem::path& out,
                                             const std::string& submission_sha256, int line);

/// The write-up in a text that OUT keeps; empty where that has none.
[[nodiscard]] std::string write_up_of_submission(const std::filesystem::path& out,
                                                 const std::string& submission_sha256);

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
