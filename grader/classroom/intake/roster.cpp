// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/roster.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <unordered_map>
#include <utility>

#include "grader/base/strings.hpp"
#include "grader/classroom/intake/submitted_names.hpp"

namespace membound::intake {
namespace {

/// The words of a name, sorted: "Doe, Jane" and "jane doe" give the same.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : folded(name) + " ") {
    if (c == ' ' || c == ',' || c == '.' || c == '_' || c == '-') {
      if (!word.empty()) words.push_back(std::exchange(word, ""));
    } else {
      word += c;
    }
  }
  std::sort(words.begin(), words.end());
  return words;
}

std::string joined_words(std::string_view name) {
  std::string all;
  for (const std::string& word : words_of(name)) all += word + " ";
  return all;
}

/// Whether a word of the name stands in `other`, where platforms squeeze or cut names.
bool name_occurs(std::string_view name, std::string_view other) {
  const std::string text = squeezed(other);
  for (const std::string& word : words_of(name))
    if (word.size() > 1 && text.find(squeezed(word)) != std::string::npos) return true;
  return false;
}

/// Parts of a folder's name between '_', '-', '.' and spaces: "alice_03-transpose" holds "alice".
std::vector<std::string> tokens(const std::string& key, std::string_view separators = "_-. ") {
  std::vector<std::string> all;
  std::string token;
  for (const char c : key + separators.front()) {
    if (separators.find(c) != std::string_view::npos) {
      if (!token.empty()) all.push_back(token);
      token.clear();
    } else {
      token += c;
    }
  }
  return all;
}

/// The platform whose numbers the layout's keys are; empty: none's.
std::string platform_of(Layout layout) {
  const bool has_numbers = layout == Layout::kCanvas || layout == Layout::kMoodle;
  return has_numbers ? std::string(to_string(layout)) : "";
}

/// What a platform's row says of somebody's identity, without the platform's own numbers: they may
/// be others' ids.
std::vector<std::string> ids_of(const RosterRow& row) {
  std::vector<std::string> ids = {row.id};
  ids.insert(ids.end(), row.aliases.begin(), row.aliases.end());
  std::erase_if(ids, [&row](const std::string& id) {
    return id.empty() || id.starts_with("Participant ") || id == row.email ||
           std::any_of(row.numbers.begin(), row.numbers.end(),
                       [&id](const auto& one) { return one.second == id; });
  });
  return ids;
}

/// Joins tables to a roster.
class Joining {
 public:
  Joining(const Roster& roster, std::vector<std::string>& notes)
      : roster_(roster), notes_(notes), rows_(roster.rows()) {}

  void add(const PeopleTable& table) {
    std::map<std::string, int> emails, names;
    for (const RosterRow& row : table.rows) {
      ++emails[folded(row.email)];
      ++names[joined_words(row.name)];
    }
    for (const RosterRow& row : table.rows) {
      const bool own_email = emails[folded(row.email)] == 1;
      const bool own_name = names[joined_words(row.name)] == 1;
      const RosterRow* const student = meant(row, own_email, own_name, table.name);
      if (student != nullptr)
        learn(row, rows_[static_cast<std::size_t>(student - roster_.rows().data())]);
    }
  }
  [[nodiscard]] std::vector<RosterRow> take() { return std::move(rows_); }

 private:
  /// By id, then email, then name; null where nobody or several are meant.
  const RosterRow* meant(const RosterRow& row, bool own_email, bool own_name,
                         const std::string& table) {
    const RosterRow* by_id = nullptr;
    for (const std::string& id : ids_of(row)) {
      const RosterRow* const one = roster_.find(id);
      if (one == nullptr || one == by_id) continue;
      if (by_id != nullptr) {
        notes_.push_back(table + ": the ids of \"" + row.name + "\" mean both " + by_id->id +
                         " and " + one->id + "; nobody is matched by that row");
        return nullptr;
      }
      by_id = one;
    }
    const RosterRow* by_email = nullptr;
    for (const RosterRow* one : roster_.all_alike(row.email))
      if (own_email && !row.email.empty() && folded(one->email) == folded(row.email))
        by_email = by_email == nullptr ? one : nullptr;
    if (by_id != nullptr && by_email != nullptr && by_id != by_email)
      notes_.push_back(table + ": \"" + row.name + "\" has the id of " + by_id->id +
                       " and the email of " + by_email->id + "; the id counts");
    if (by_id != nullptr || by_email != nullptr) return by_id != nullptr ? by_id : by_email;
    const std::string name = joined_words(row.name);
    if (!own_name || name.empty()) return nullptr;
    const RosterRow* by_name = nullptr;
    for (const RosterRow* one : roster_.all_alike(row.name)) {
      if (joined_words(one->name) != name) continue;
      if (by_name != nullptr) return nullptr;
      by_name = one;
    }
    return by_name;
  }

  void learn(const RosterRow& row, RosterRow& student) {
    const auto add = [](auto& list, const auto& one) {
      if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
    };
    for (const auto& number : row.numbers) add(student.numbers, number);
    for (const std::string& id : ids_of(row))
      if (roster_.find(id) == nullptr) add(student.aliases, id);
    if (student.email.empty()) student.email = row.email;
    if (student.section.empty()) student.section = row.section;
    if (student.groups.empty()) student.groups = row.groups;
  }

  const Roster& roster_;
  std::vector<std::string>& notes_;
  std::vector<RosterRow> rows_;
};

}  // namespace

/// A class of thousands is looked up once for each of its submissions.
struct Roster::Index {
  /// Rows by what they may be called.
  class Names {
   public:
    void add(const std::string& name, std::size_t row) {
      if (!name.empty()) rows_[name].insert(row);
    }
    [[nodiscard]] std::set<std::size_t> rows(const std::string& name) const {
      const auto found = rows_.find(name);
      return found == rows_.end() ? std::set<std::size_t>() : found->second;
    }

   private:
    std::unordered_map<std::string, std::set<std::size_t>> rows_;
  };

  Names ids, others;   // as they are written
  Names folded_words;  // id, email and aliases
  Names sorted_names, squeezed_names;
  Names numbers;  // "canvas 4711"

  explicit Index(const std::vector<RosterRow>& rows) {
    for (std::size_t i = 0; i < rows.size(); ++i) add(rows[i], i);
  }

  [[nodiscard]] std::set<std::size_t> alike(std::string_view word) const {
    std::set<std::size_t> found;
    const std::string plain = folded(word);
    if (plain.empty()) return found;
    found.merge(folded_words.rows(plain));
    found.merge(sorted_names.rows(joined_words(word)));
    found.merge(squeezed_names.rows(squeezed(word)));
    return found;
  }

 private:
  void add(const RosterRow& row, std::size_t i) {
    ids.add(row.id, i);
    folded_words.add(folded(row.id), i);
    others.add(row.email, i);
    folded_words.add(folded(row.email), i);
    for (const std::string& alias : row.aliases) {
      others.add(alias, i);
      folded_words.add(folded(alias), i);
    }
    for (const auto& [platform, number] : row.numbers) numbers.add(platform + " " + number, i);
    if (row.name.empty()) return;
    sorted_names.add(joined_words(row.name), i);
    // Canvas writes last name and first name in one word.
    const std::string name = folded(row.name);
    squeezed_names.add(squeezed(name), i);
    if (const auto space = name.find_last_of(' '); space != std::string::npos)
      squeezed_names.add(squeezed(name.substr(space) + name.substr(0, space)), i);
  }
};

base::Result<Roster> Roster::from_text(std::string_view text, const std::string& file_name) {
  auto people = read_people(text, file_name);
  if (!people) return people.error();
  std::set<std::string> ids;
  for (const RosterRow& row : *people) {
    if (!ids.insert(folded(row.id)).second) {
      return base::Error{base::ErrorKind::kInput, file_name,
                         "two students have the id \"" + shown(row.id) + "\"",
                         "one row for each id, in any case of letters", "remove one of them"};
    }
  }
  return of(*std::move(people));
}

Roster Roster::of(std::vector<RosterRow> rows) {
  Roster roster;
  roster.rows_ = std::move(rows);
  roster.index_ = std::make_shared<const Index>(roster.rows_);
  return roster;
}

const RosterRow* Roster::find(std::string_view word) const {
  if (index_ == nullptr) return nullptr;
  const std::string exact = shown(word);
  std::set<std::size_t> found = index_->ids.rows(exact);
  if (found.empty()) found = index_->others.rows(exact);
  return found.size() == 1 ? &rows_[*found.begin()] : nullptr;
}

std::vector<const RosterRow*> Roster::all_alike(std::string_view word) const {
  std::vector<const RosterRow*> all;
  if (index_ != nullptr)
    for (const std::size_t row : index_->alike(word)) all.push_back(&rows_[row]);
  return all;
}

const RosterRow* Roster::find_alike(std::string_view word) const {
  const auto found = all_alike(word);
  return found.size() == 1 ? found.front() : nullptr;
}

const RosterRow* Roster::find_number(const std::string& platform, const std::string& number) const {
  if (index_ == nullptr || number.empty()) return nullptr;
  const auto found = index_->numbers.rows(platform + " " + number);
  return found.size() == 1 ? &rows_[*found.begin()] : nullptr;
}

const Groups::Group* Groups::of(const std::string& student) const {
  const auto found = by_student_.find(student);
  return found == by_student_.end() ? nullptr : &groups_.at(found->second);
}

const Groups::Group* Groups::named(const std::string& name) const {
  const auto found = groups_.find(folded(name));
  return found == groups_.end() ? nullptr : &found->second;
}

Groups Roster::groups_in(const std::string& lab, const std::vector<course::Lab>& labs) const {
  std::map<std::string, bool> is_meant;  // by the column's words, of which there are few
  const auto is_of_lab = [&](const std::string& words) {
    const auto [known, is_new] = is_meant.try_emplace(words, false);
    if (is_new) {
      const auto meant = lab_meant(words, labs, "the roster");
      known->second = meant && *meant == lab;
    }
    return known->second;
  };
  Groups all;
  for (const RosterRow& row : rows_) {
    const std::string *own = nullptr, *everywhere = nullptr;
    for (const SubmittedCell& cell : row.groups) {
      if (cell.lab.empty())
        everywhere = &cell.text;
      else if (is_of_lab(cell.lab))
        own = &cell.text;
    }
    if (own == nullptr) own = everywhere;
    if (own == nullptr) continue;
    const std::string key = folded(*own);
    if (key.empty()) continue;
    Groups::Group& group = all.groups_[key];
    if (group.members.empty()) group.name = *own;
    group.members.push_back(&row);
    all.by_student_[row.id] = key;
  }
  return all;
}

bool Roster::has_group(const std::string& group) const {
  const std::string wanted = folded(group);
  return !wanted.empty() && std::any_of(rows_.begin(), rows_.end(), [&](const RosterRow& row) {
    return std::any_of(row.groups.begin(), row.groups.end(),
                       [&](const SubmittedCell& cell) { return folded(cell.text) == wanted; });
  });
}

Roster joined(const Roster& roster, const std::vector<PeopleTable>& tables,
              std::vector<std::string>& notes) {
  if (roster.empty() || tables.empty()) return roster;
  Joining joining(roster, notes);
  for (const PeopleTable& table : tables) joining.add(table);
  return Roster::of(joining.take());
}

Match match_of(const Author& author, const Roster& roster) {
  using By = Match::By;
  if (const RosterRow* row = roster.find_number(author.platform, author.number))
    return {row, true, By::kId};
  // A platform's number may be the id of somebody else.
  std::vector<std::string> words = author.words;
  std::erase_if(words, [&author](const std::string& word) {
    return word.empty() || word == author.number || word == "Participant " + author.number;
  });
  std::string all_words;
  for (const std::string& word : words) all_words += word + " ";
  if (const RosterRow* row = author.number.empty() ? nullptr : roster.find(author.number))
    if (words.empty() || row->name.empty() || name_occurs(row->name, all_words))
      return {row, true, By::kId};
  for (const std::string& word : words)
    if (const RosterRow* row = roster.find(word)) return {row, true, By::kId};
  for (const std::string& word : words) {
    const auto alike = roster.all_alike(word);
    if (alike.size() == 1) return {alike.front(), true, By::kName};
    if (alike.empty()) continue;
    Match several;
    for (const RosterRow* row : alike) several.may_be.push_back(row->id);
    return several;
  }
  return {};
}

Match match_of(const Item& item, Layout layout, const Roster& roster) {
  using By = Match::By;
  const std::string platform = platform_of(layout);
  if (item.key_is_id && !platform.empty())
    return match_of({platform, item.key, item.words}, roster);
  // Byte by byte: a twin in another normal form is not the id.
  const RosterRow* const exact = roster.find(item.key);
  if (exact != nullptr && (item.key_is_id || item.raw_key == item.key))
    return {exact, true, By::kId};
  if (item.key_is_id) {
    Author author{"", "", {item.key}};
    author.words.insert(author.words.end(), item.words.begin(), item.words.end());
    return match_of(author, roster);
  }
  for (const std::string& word : item.words)
    if (const RosterRow* row = word.empty() ? nullptr : roster.find(word))
      return {row, true, By::kId};
  const auto alike = roster.all_alike(item.key);
  if (alike.size() == 1) return {alike.front(), false, By::kName};
  Match several;
  for (const RosterRow* row : alike) several.may_be.push_back(row->id);
  if (!several.may_be.empty()) return several;
  const RosterRow* found = nullptr;
  for (const std::string& token : tokens(item.key)) {
    const RosterRow* const row = roster.find(token);
    if (row != nullptr && found != nullptr && row != found) return {};
    if (row != nullptr) found = row;
  }
  return {found, false, found != nullptr ? By::kId : By::kNobody};
}

std::string unmatched_text(const std::vector<std::string>& may_be) {
  const std::string names = base::joined(may_be);
  return may_be.empty() ? "not in the roster"
                        : "not matched with the roster: it may be " + names +
                              ", and a name alone does not say who";
}

namespace {

Owner owner_of(const RosterRow& row, const Item& item) {
  Owner owner;
  owner.student = row.id;
  owner.name = row.name.empty() ? item.name : row.name;
  owner.email = row.email.empty() ? item.email : row.email;
  owner.section = row.section;
  return owner;
}

Owner owner_of(const Item& item, const Match& match, bool has_roster) {
  if (match.row != nullptr) return owner_of(*match.row, item);
  Owner owner;
  owner.student = shown(item.key);
  owner.name = item.name;
  owner.email = item.email;
  owner.may_be = match.may_be;
  if (has_roster) owner.unmatched = unmatched_text(match.may_be);
  return owner;
}

/// The members that a folder "a_b" names, each exactly, in one way only; empty where it names none.
/// Without a roster each part is a student.
std::vector<std::string> named_members(const std::string& key, const Roster& roster) {
  const auto parts = tokens(key, "_+,& ");
  if (parts.size() < 2) return {};
  if (roster.empty()) return parts;
  std::vector<std::vector<std::string>> ways;
  // Ids may hold a '_' themselves: "a_b_c" is a and b_c where the roster has these.
  const std::function<void(std::size_t, std::vector<std::string>)> split =
      [&](std::size_t from, std::vector<std::string> so_far) {
        if (from == parts.size()) {
          ways.push_back(std::move(so_far));
          return;
        }
        std::string word;
        for (std::size_t i = from; i < parts.size() && i < from + 4 && ways.size() < 3; ++i) {
          base::add_word(word, parts[i], "_");
          const RosterRow* const row = roster.find(word);
          if (row == nullptr) continue;
          auto more = so_far;
          more.push_back(row->id);
          split(i + 1, std::move(more));
        }
      };
  split(0, {});
  return ways.size() == 1 && ways.front().size() > 1 ? ways.front() : std::vector<std::string>();
}

/// Owners of a folder that is a group's, by its members' names or by its own; empty: it is none.
std::vector<Owner> group_owners(const Item& item, const Roster& roster, bool group_folders) {
  std::vector<Owner> owners;
  if (item.key_is_id) return owners;
  if (group_folders && roster.find(item.key) == nullptr) {
    std::set<std::string> members;
    for (std::string& name : named_members(item.key, roster)) members.insert(std::move(name));
    for (const std::string& name : members) {
      const RosterRow* const row = roster.find(name);
      Owner owner;
      owner.student = shown(name);
      owners.push_back(row != nullptr ? owner_of(*row, Item()) : owner);
      owners.back().group = shown(item.key);
    }
    if (!owners.empty()) return owners;
  }
  if (!roster.has_group(item.key) || !roster.all_alike(item.key).empty()) return owners;
  Owner owner;
  owner.student = owner.group_folder = shown(item.key);
  owners.push_back(std::move(owner));
  return owners;
}

/// Of two numbers of one platform that only a name makes the same student, neither is taken: there
/// may be two people of that name, of whom the roster knows one.
void part_namesakes(const std::vector<Item>& items, const std::vector<Layout>& layouts,
                    std::vector<Match>& matches) {
  std::map<std::pair<Layout, std::string>, std::set<std::string>> numbers;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (items[i].key_is_id && matches[i].row != nullptr && !platform_of(layouts[i]).empty())
      numbers[{layouts[i], matches[i].row->id}].insert(items[i].key);
  for (std::size_t i = 0; i < items.size(); ++i) {
    Match& match = matches[i];
    if (!items[i].key_is_id || match.by != Match::By::kName || platform_of(layouts[i]).empty())
      continue;
    if (numbers[{layouts[i], match.row->id}].size() > 1)
      match = {nullptr, false, Match::By::kNobody, {match.row->id}};
  }
}

}  // namespace

std::vector<std::vector<Owner>> owners_of(const std::vector<Item>& items,
                                          const std::vector<Layout>& layouts, const Roster& roster,
                                          bool group_folders) {
  std::vector<Match> matches;
  for (std::size_t i = 0; i < items.size(); ++i)
    matches.push_back(match_of(items[i], layouts[i], roster));
  part_namesakes(items, layouts, matches);
  std::vector<std::vector<Owner>> owners;
  std::map<std::string, std::set<std::string>> all;  // the names under which each student appears
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    owners.push_back(matches[i].by == Match::By::kNobody || !matches[i].exact
                         ? group_owners(item, roster, group_folders)
                         : std::vector<Owner>());
    if (!owners.back().empty()) {
      matches[i].exact = true;
      continue;
    }
    owners.back().push_back(owner_of(item, matches[i], !roster.empty()));
    owners.back().front().group = item.group;
    all[folded(owners.back().front().student)].insert(item.raw_key);
  }
  std::map<std::string, int> twins;
  for (std::size_t i = 0; i < items.size(); ++i) {
    Owner& owner = owners[i].front();
    const std::string who = folded(owner.student);
    if (all[who].size() < 2 || matches[i].exact) continue;
    owner.refused = "\"" + shown(items[i].key) + "\" and another name both mean the student \"" +
                    shown(owner.student) + "\"; a roster with exact ids tells them apart";
    // A row of its own, so that it never counts as an attempt of the one it looks like.
    const int number = ++twins[who];
    if (!roster.empty() && owner.unmatched.empty()) {
      owner.may_be = {owner.student};
      owner.unmatched = unmatched_text(owner.may_be);
    }
    owner.student = shown(items[i].key) + " (look-alike " + std::to_string(number) + ")";
    owner.name.clear();
    owner.email.clear();
  }
  return owners;
}

}  // namespace membound::intake
