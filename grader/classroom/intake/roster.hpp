// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who is in the class: a CSV as an instructor has it, or as Canvas, Moodle, Gradescope and GitHub
/// Classroom export it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::intake {

/// A cell that says when something was handed in.
struct SubmittedCell {
  std::string lab;   ///< what its header names behind "submitted_at"; may be empty
  std::string text;  ///< not empty
};

/// One student; a row of any table about students.
struct RosterRow {
  std::string id;  ///< identity everywhere: in the ledger, in grades.csv
  std::string name, email;
  std::vector<std::string> aliases;  ///< what else an LMS may call the student: login, SIS id, …
  std::vector<SubmittedCell> submitted;
  std::string lab, attempt;  ///< from columns of these names; may be empty
};

/// The rows of a table about students, with the header's words in any order and in the forms LMSs
/// use ("Student ID", "SIS User ID", "Email address", "First name", …); a column for the id, or one
/// for the email, must be there. Rows without an id are left out.
[[nodiscard]] base::Result<std::vector<RosterRow>> read_people(std::string_view text,
                                                               const std::string& file_name);

/// The class.
class Roster {
 public:
  /// As read_people(); two rows of one id are an error.
  [[nodiscard]] static base::Result<Roster> from_text(std::string_view text,
                                                      const std::string& file_name);

  [[nodiscard]] const std::vector<RosterRow>& rows() const { return rows_; }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// The one student whom `word` names exactly: by id, alias or email.
  [[nodiscard]] const RosterRow* find(std::string_view word) const;
  /// The one student whom `word` names when case and forms of letters are folded, also by name
  /// ("Doe, Jane" is "Jane Doe" is "doejane"); null when none or several fit.
  [[nodiscard]] const RosterRow* find_alike(std::string_view word) const;

 private:
  struct Index;

  std::vector<RosterRow> rows_;
  std::shared_ptr<const Index> index_;  ///< of rows_; null for an empty roster
};

}  // namespace membound::intake
