// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/students.hpp"

#include <map>
#include <set>

#include "grader/classroom/intake/student_names.hpp"

namespace membound::intake {
namespace {

/// A row of the roster and how surely it was meant.
struct Match {
  const RosterRow* row = nullptr;
  bool exact = false;
};

/// Parts of a folder's name between '_', '-', '.' and spaces: "alice_03-transpose" holds "alice".
std::vector<std::string> tokens(const std::string& key) {
  std::vector<std::string> all;
  std::string token;
  for (const char c : key + "_") {
    if (c == '_' || c == '-' || c == '.' || c == ' ') {
      if (!token.empty()) all.push_back(token);
      token.clear();
    } else {
      token += c;
    }
  }
  return all;
}

Match match_of(const Item& item, const Roster& roster) {
  // Byte by byte: a twin in another normal form is not the id.
  const RosterRow* const exact = roster.find(item.key);
  if (exact != nullptr && (item.key_is_id || item.raw_key == item.key)) return {exact, true};
  for (const std::string& word : item.words)
    if (const RosterRow* row = word.empty() ? nullptr : roster.find(word)) return {row, true};
  if (const RosterRow* row = roster.find_alike(item.key)) return {row, false};
  for (const std::string& word : item.words)
    if (const RosterRow* row = word.empty() ? nullptr : roster.find_alike(word))
      return {row, item.key_is_id};
  if (item.key_is_id) return {};
  const RosterRow* found = nullptr;
  for (const std::string& token : tokens(item.key)) {
    const RosterRow* const row = roster.find(token);
    if (row != nullptr && found != nullptr && row != found) return {};
    if (row != nullptr) found = row;
  }
  return {found, false};
}

Owner owner_of(const Item& item, const Match& match, bool has_roster) {
  Owner owner;
  if (match.row != nullptr) {
    owner.student = match.row->id;
    owner.name = match.row->name.empty() ? item.name : match.row->name;
    owner.email = match.row->email.empty() ? item.email : match.row->email;
    return owner;
  }
  owner.student = shown(item.key);
  owner.name = item.name;
  owner.email = item.email;
  if (has_roster) owner.note = "not in the roster";
  return owner;
}

}  // namespace

std::vector<Owner> owners_of(const std::vector<Item>& items, const Roster& roster) {
  std::vector<Match> matches;
  std::vector<Owner> owners;
  // The names under which each student appears, surely meant ones apart.
  std::map<std::string, std::set<std::string>> sure, all;
  for (const Item& item : items) {
    matches.push_back(match_of(item, roster));
    owners.push_back(owner_of(item, matches.back(), !roster.empty()));
    const std::string who = folded(owners.back().student);
    all[who].insert(item.raw_key);
    if (matches.back().exact) sure[who].insert(item.raw_key);
  }
  std::map<std::string, int> twins;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string who = folded(owners[i].student);
    if (all[who].size() < 2 || matches[i].exact) continue;
    owners[i].refused = "\"" + shown(items[i].key) +
                        "\" and another name both mean the student \"" + shown(owners[i].student) +
                        "\"; a roster with exact ids tells them apart";
    // A row of its own, so that it never counts as an attempt of the one it looks like.
    const int number = ++twins[who];
    owners[i].student = shown(items[i].key) + " (look-alike " + std::to_string(number) + ")";
    owners[i].name.clear();
    owners[i].email.clear();
  }
  return owners;
}

}  // namespace membound::intake
