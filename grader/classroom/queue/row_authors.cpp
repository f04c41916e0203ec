// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Whose the rows of a plan are, by what is known now: a table that tells who is who may come in a
/// later call than the work, and a person whom the course has forgotten may come with it again.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/queue/plan.hpp"

namespace membound::queue {
namespace {

/// Whom a row's author is by the roster of now; null where it stays as it is.
const intake::RosterRow* found_author(const Row& row, const intake::Roster& roster) {
  if (const auto* student = roster.find_number(row.platform, row.platform_id))
    return student->id != row.student ? student : nullptr;
  if (row.unmatched.empty()) return nullptr;
  std::vector<std::string> words = row.known_as;
  for (const std::string& word : {row.email, row.name})
    if (!word.empty()) words.push_back(word);
  return intake::match_of(intake::Author{row.platform, row.platform_id, words}, roster).row;
}

/// Whether two rows' platform numbers make them two people.
bool are_two(const Row& a, const Row& b) {
  return !a.platform_id.empty() && a.platform == b.platform && a.platform_id != b.platform_id;
}

/// The same work as that of another member of the author's group.
Row of_member(const Row& work, const intake::RosterRow& member) {
  Row row = work;
  row.student = member.id;
  row.name = member.name;
  row.email = member.email;
  row.section = member.section;
  row.former.clear();
  row.platform.clear();
  row.platform_id.clear();
  if (!member.numbers.empty()) std::tie(row.platform, row.platform_id) = member.numbers.front();
  row.note = "handed in by " + work.student + " for the group " + work.group;
  return row;
}

/// What was found to be a student's is the whole group's, as it would have been at once; what the
/// others handed in is this one's already. Returns the students and labs that got something.
std::set<std::pair<std::string, std::string>> share_in_groups(
    Plan& plan, const intake::Roster& roster, const std::vector<std::size_t>& found) {
  std::vector<course::Lab> labs;
  for (const auto& [id, planned] : plan.labs) labs.emplace_back().id = id;
  std::map<std::string, intake::Groups> groups;
  std::set<std::pair<std::string, std::string>> changed;
  std::vector<Row> more;
  for (const std::size_t i : found) {
    Row& row = plan.rows[i];
    changed.emplace(row.student, row.lab);
    const auto [of_lab, is_new] = groups.try_emplace(row.lab);
    if (is_new) of_lab->second = roster.groups_in(row.lab, labs);
    const intake::Groups::Group* const group = of_lab->second.of(row.student);
    if (group == nullptr || group->members.size() < 2) continue;
    row.group = group->name;
    for (const intake::RosterRow* member : group->members) {
      if (member->id == row.student) continue;
      more.push_back(of_member(row, *member));
      changed.emplace(member->id, row.lab);
    }
  }
  std::move(more.begin(), more.end(), std::back_inserter(plan.rows));
  return changed;
}

/// Attempts of a student and lab that came under several names or members: by time, the last alone
/// where it counts; who has one has handed something in. Equal texts of a group are one.
void renumber(Plan& plan, const std::set<std::pair<std::string, std::string>>& changed) {
  std::stable_sort(plan.rows.begin(), plan.rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.student, a.lab) < std::tie(b.student, b.lab);
  });
  std::vector<Row> rows;
  for (std::size_t begin = 0, end = 0; begin < plan.rows.size(); begin = end) {
    const Row& first = plan.rows[begin];
    while (end < plan.rows.size() && plan.rows[end].student == first.student &&
           plan.rows[end].lab == first.lab)
      ++end;
    std::vector<Row> attempts(plan.rows.begin() + static_cast<long>(begin),
                              plan.rows.begin() + static_cast<long>(end));
    const bool moved = changed.contains({first.student, first.lab}) ||
                       std::any_of(attempts.begin(), attempts.end(),
                                   [](const Row& row) { return !row.former.empty(); });
    if (moved && attempts.size() > 1) {
      std::erase_if(attempts, [](const Row& row) { return row.attempt == 0; });
      std::stable_sort(attempts.begin(), attempts.end(), [](const Row& a, const Row& b) {
        return std::tie(a.submitted_at, a.attempt) < std::tie(b.submitted_at, b.attempt);
      });
      std::set<std::pair<std::string, std::string>> seen;
      std::erase_if(attempts, [&seen](const Row& row) {
        return !row.group.empty() && !seen.emplace(row.submission_sha256, row.refused).second;
      });
      if (!plan.best_attempt) attempts.erase(attempts.begin(), attempts.end() - 1);
      for (std::size_t i = 0; plan.best_attempt && i < attempts.size(); ++i)
        attempts[i].attempt = static_cast<int>(i) + 1;
    }
    std::move(attempts.begin(), attempts.end(), std::back_inserter(rows));
  }
  plan.rows = std::move(rows);
}

/// Tells who handed in nothing which work without a known author may be theirs.
void link_candidates(Plan& plan) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> works;
  for (const Row& row : plan.rows)
    if (!row.unmatched.empty() && row.attempt > 0)
      for (const std::string& student : row.may_be)
        works[{student, row.lab}].push_back(row.student);
  for (Row& row : plan.rows) {
    if (row.attempt > 0) continue;
    const auto found = works.find({row.student, row.lab});
    row.may_be = found == works.end() ? std::vector<std::string>() : found->second;
  }
}

}  // namespace

void identify(Plan& plan, const intake::Roster& roster) {
  if (!roster.empty()) {
    std::map<std::string, std::vector<const Row*>> claims;
    std::vector<const intake::RosterRow*> authors;
    for (const Row& row : plan.rows) {
      authors.push_back(row.attempt > 0 ? found_author(row, roster) : nullptr);
      const std::string& who = authors.back() != nullptr ? authors.back()->id : row.student;
      if (row.attempt > 0) claims[who].push_back(&row);
    }
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
      if (authors[i] == nullptr) continue;
      // Of two numbers that only a name makes one student, neither is taken.
      const auto& others = claims[authors[i]->id];
      const Row& row = plan.rows[i];
      if (roster.find_number(row.platform, row.platform_id) == nullptr &&
          std::any_of(others.begin(), others.end(),
                      [&row](const Row* other) { return are_two(row, *other); }))
        authors[i] = nullptr;
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
      Row& row = plan.rows[i];
      if (authors[i] != nullptr) {
        found.push_back(i);
        row.former = row.student;
        row.student = authors[i]->id;
        row.name = authors[i]->name;
        row.email = authors[i]->email;
        row.unmatched.clear();
        row.may_be.clear();
      }
      const intake::RosterRow* const student = roster.find(row.student);
      if (student == nullptr || student->id != row.student) continue;
      row.section = student->section;
    }
    renumber(plan, share_in_groups(plan, roster, found));
  }
  link_candidates(plan);
}

void drop_forgotten(Plan& plan, const std::filesystem::path& out, std::vector<std::string>& notes) {
  if (plan.forgotten.digests.empty()) return;
  std::set<std::string> texts, kept;
  std::size_t dropped = 0;
  std::erase_if(plan.rows, [&](const Row& row) {
    const bool known = plan.forgotten.digests.contains(plan.digest_of(row.student));
    (known ? texts : kept).insert(row.submission_sha256);
    dropped += known ? 1U : 0U;
    return known;
  });
  if (dropped == 0) return;
  plan.drop_idle_jobs();
  std::error_code ignored;
  for (const std::string& text : texts)
    if (!text.empty() && !kept.contains(text))
      std::filesystem::remove_all(intake::Store(out).file(text).parent_path(), ignored);
  notes.push_back(std::to_string(dropped) +
                  " rows of people whom the course has forgotten are left out; take them out of "
                  "the roster and of what is handed in");
}

}  // namespace membound::queue
