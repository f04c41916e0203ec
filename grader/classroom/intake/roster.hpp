// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who is in the class and who is who: the roster, and what the platforms' own tables know of the
/// same people (numbers, ids, addresses, names). Somebody is matched by id first, then by email,
/// then by name; of two people with one name nobody is guessed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/intake/layout.hpp"
#include "grader/classroom/intake/people_table.hpp"
#include "grader/course/lab.hpp"

namespace membound::intake {

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
  /// Whether it names one student, exactly or so.
  [[nodiscard]] bool names_student(std::string_view word) const {
    return find(word) != nullptr || find_alike(word) != nullptr;
  }
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

}  // namespace membound::intake
