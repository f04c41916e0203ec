// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Tables about students: a CSV as an instructor has it, or as Canvas, Moodle, Gradescope and
/// GitHub Classroom export it, and Canvas's submissions as JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"

namespace membound::intake {

/// A cell about one lab: when something was handed in, or with which group.
struct SubmittedCell {
  std::string lab;   ///< what its header names after "submitted_at" or "group"; may be empty
  std::string text;  ///< not empty

  bool operator==(const SubmittedCell&) const = default;
};

/// One student; a row of any table about students.
struct RosterRow {
  std::string id;  ///< identity everywhere: in the ledger, in grades.csv
  std::string name, email;
  std::vector<std::string> aliases;  ///< what else an LMS may call the student: login, SIS id, …
  std::vector<SubmittedCell> submitted;
  std::string lab, attempt;  ///< from columns of these names; may be empty
  std::string section;       ///< likewise
  /// What a platform that numbers people calls the student: {"canvas", "4711"}, {"moodle", "307"}.
  std::vector<std::pair<std::string, std::string>> numbers;
  std::vector<SubmittedCell> groups;  ///< columns "group" and "group LAB"

  bool operator==(const RosterRow&) const = default;
};

/// The rows of a table about students, with the header's words in any order and in the forms LMSs
/// use ("Student ID", "SIS User ID", "Email address", "First name", …); a column for the id, or one
/// for the email, must be there. Rows without an id are left out.
[[nodiscard]] base::Result<std::vector<RosterRow>> read_people(std::string_view text,
                                                               const std::string& file_name);

/// People as one file of a platform knows them.
struct PeopleTable {
  std::string name;  ///< the file's, without folders
  std::vector<RosterRow> rows;

  bool operator==(const PeopleTable&) const = default;
};

/// Canvas's submissions as JSON, or any table that read_people() takes: Canvas's gradebook,
/// Moodle's worksheet, Gradescope's scores.
[[nodiscard]] base::Result<PeopleTable> read_people_table(std::string_view text,
                                                          const std::string& file_name);

void to_json(nlohmann::json& out, const SubmittedCell& value);
void from_json(const nlohmann::json& in, SubmittedCell& value);
void to_json(nlohmann::json& out, const RosterRow& value);
void from_json(const nlohmann::json& in, RosterRow& value);
void to_json(nlohmann::json& out, const PeopleTable& value);
void from_json(const nlohmann::json& in, PeopleTable& value);

}  // namespace membound::intake
