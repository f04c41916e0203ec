// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who is in the class: a CSV as an instructor has it, or as Canvas, Moodle, Gradescope and GitHub
/// Classroom export it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"

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

/// Equal for texts that are the same person's name, "Doe, Jane" and "jane doe"; empty for none.
[[nodiscard]] std::string name_key(std::string_view name);
/// Whether a word of the name stands in `other`, where platforms squeeze or cut names.
[[nodiscard]] bool name_occurs(std::string_view name, std::string_view other);

class Roster;

/// The groups of a roster in one lab. The roster must outlive it.
class Groups {
 public:
  /// A group's name as the roster writes it first, and its members.
  struct Group {
    std::string name;
    std::vector<const RosterRow*> members;
  };
  /// The group of the student with this id; null where there is none.
  [[nodiscard]] const Group* of(const std::string& student) const;
  /// The group of this name, in any case of letters; null where there is none.
  [[nodiscard]] const Group* named(const std::string& name) const;

 private:
  friend class Roster;

  std::map<std::string, Group> groups_;            // by folded name
  std::map<std::string, std::string> by_student_;  // id to folded name
};

/// The class.
class Roster {
 public:
  /// As read_people(); two rows of one id are an error.
  [[nodiscard]] static base::Result<Roster> from_text(std::string_view text,
                                                      const std::string& file_name);

  /// Of rows that have different ids.
  [[nodiscard]] static Roster of(std::vector<RosterRow> rows);

  [[nodiscard]] const std::vector<RosterRow>& rows() const { return rows_; }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// The one student whom `word` names exactly: by id, alias or email.
  [[nodiscard]] const RosterRow* find(std::string_view word) const;
  /// The one student whom `word` names when case and forms of letters are folded, also by name
  /// ("Doe, Jane" is "Jane Doe" is "doejane"); null when none or several fit.
  [[nodiscard]] const RosterRow* find_alike(std::string_view word) const;
  /// All whom `word` may name in that way.
  [[nodiscard]] std::vector<const RosterRow*> all_alike(std::string_view word) const;
  /// The student with a platform's own number.
  [[nodiscard]] const RosterRow* find_number(const std::string& platform,
                                             const std::string& number) const;

  /// Who is in which group in a lab: by the column "group LAB", else by "group".
  [[nodiscard]] Groups groups_in(const std::string& lab,
                                 const std::vector<course::Lab>& labs) const;
  /// Whether somebody is in a group of this name in some lab.
  [[nodiscard]] bool has_group(const std::string& group) const;

 private:
  struct Index;

  std::vector<RosterRow> rows_;
  std::shared_ptr<const Index> index_;  ///< of rows_; null for an empty roster
};

}  // namespace membound::intake
