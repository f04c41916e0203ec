// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who is who in a course: the roster, and what the platforms' own tables know of the same people
/// (numbers, ids, addresses, names). Somebody is matched by id first, then by email, then by name;
/// of two people with one name nobody is guessed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/layout.hpp"
#include "grader/classroom/intake/roster.hpp"

namespace membound::intake {

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

/// The people of Canvas's list of submissions; nobody where it is no such list.
[[nodiscard]] std::vector<RosterRow> canvas_people(const nlohmann::json& list);

/// The roster with what the tables know of its students. `notes` gets what contradicts itself.
[[nodiscard]] Roster joined(const Roster& roster, const std::vector<PeopleTable>& tables,
                            std::vector<std::string>& notes);

/// What names the author of some work.
struct Author {
  std::string platform, number;    ///< of a platform with numbers of its own; may be empty
  std::vector<std::string> words;  ///< ids, logins, email, name: the surest first
};

/// Whom of the roster an author is.
struct Match {
  enum class By { kNobody, kId, kName };

  const RosterRow* row = nullptr;
  bool exact = false;  ///< the same letters, not only alike
  By by = By::kNobody;
  std::vector<std::string> may_be = {};  ///< ids of several of whom nobody is guessed
};

[[nodiscard]] Match match_of(const Author& author, const Roster& roster);
[[nodiscard]] Match match_of(const Item& item, Layout layout, const Roster& roster);

/// The owner of one item.
struct Owner {
  std::string student, name, email;
  std::string section;
  std::string group;                   ///< by the folder's name or the platform's record
  std::string group_folder;            ///< named by a group: whose members, each lab says
  std::optional<std::string> refused;  ///< two different names that mean one student
  std::string unmatched;               ///< why nobody of the roster is known to be it
  std::vector<std::string> may_be;     ///< ids of the roster
};

/// Owners of each item, in their order: several where a folder is a group's. With a roster its id
/// is the identity; a name that is exactly an id, login or email goes before one that only looks
/// like it. Without a roster names that differ only in case or in forms of letters are refused, all
/// of them. `layouts` are the items'; `group_folders`: "a_b" is a group of two.
[[nodiscard]] std::vector<std::vector<Owner>> owners_of(const std::vector<Item>& items,
                                                        const std::vector<Layout>& layouts,
                                                        const Roster& roster, bool group_folders);

/// Why nobody is matched, for people.
[[nodiscard]] std::string unmatched_text(const std::vector<std::string>& may_be);

void to_json(nlohmann::json& out, const SubmittedCell& value);
void from_json(const nlohmann::json& in, SubmittedCell& value);
void to_json(nlohmann::json& out, const RosterRow& value);
void from_json(const nlohmann::json& in, RosterRow& value);
void to_json(nlohmann::json& out, const PeopleTable& value);
void from_json(const nlohmann::json& in, PeopleTable& value);

}  // namespace membound::intake
