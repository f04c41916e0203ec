// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a call takes in, joined with what earlier calls of the batch planned: which rows stay,
/// which attempt each is, and whose they are by what is known now. A table that tells who is who
/// may come in a later call than the work, and a person whom the course has forgotten may come with
/// it again.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/queue/plan.hpp"

namespace membound::queue {
namespace {

using StudentLab = std::pair<std::string, std::string>;

/// Decides which rows of the earlier plan stay.
class Keeping {
 public:
  explicit Keeping(const Plan& now) : now_(now) {
    for (const Row& row : now.rows) {
      if (row.attempt > 0) there_[{row.student, row.lab}].push_back(&row);
      if (!row.source.empty()) sources_.insert(row.source);
      if (!row.submission_sha256.empty()) texts_.emplace(row.source, row.submission_sha256);
    }
  }

  [[nodiscard]] bool stays(const Row& row) const {
    const auto same = there_.find({row.student, row.lab});
    if (row.attempt == 0) return same == there_.end() && !now_.labs.contains(row.lab);
    if (sources_.contains(row.source) &&
        (now_.labs.contains(row.lab) || row.lab == intake::kUnknownLab ||
         texts_.contains({row.source, row.submission_sha256})))
      return false;
    if (same == there_.end()) return true;
    if (!counts_all())
      return std::all_of(same->second.begin(), same->second.end(),
                         [&](const Row* one) { return came_later(row, *one); });
    return std::none_of(same->second.begin(), same->second.end(),
                        [&](const Row* one) { return repeats(row, *one); });
  }

  /// Where the latest counts, an older export that is given later brings nothing back. `newest`:
  /// the time that the platform recorded of what stays; may be empty.
  [[nodiscard]] bool replaces(const Row& now, const std::string& newest) const {
    return counts_all() || now.time_from != "record" || now.submitted_at >= newest;
  }

 private:
  /// Whether all attempts stay, because the best counts or how many there are.
  [[nodiscard]] bool counts_all() const {
    return now_.best_attempt || now_.rules.limits.limits_attempts();
  }
  /// By the platform's own record of both.
  static bool came_later(const Row& a, const Row& b) {
    return a.attempt > 0 && b.attempt > 0 && a.time_from == "record" && b.time_from == "record" &&
           a.submitted_at > b.submitted_at;
  }
  /// The same text is the same attempt, unless the platform recorded both.
  static bool repeats(const Row& old, const Row& now) {
    return old.submission_sha256 == now.submission_sha256 &&
           !(old.time_from == "record" && now.time_from == "record" &&
             old.submitted_at != now.submitted_at);
  }

  const Plan& now_;
  std::map<StudentLab, std::vector<const Row*>> there_;
  std::set<std::string> sources_;
  std::set<std::pair<std::string, std::string>> texts_;
};

/// What the platform recorded of a text holds when a later call is not told so again.
void keep_records(const std::vector<Row>& earlier, std::vector<Row>& now) {
  using Work = std::tuple<std::string, std::string, std::string>;
  std::map<Work, const Row*> recorded;
  for (const Row& row : earlier)
    if (row.time_from == "record") recorded[{row.student, row.lab, row.submission_sha256}] = &row;
  if (recorded.empty()) return;
  for (Row& row : now) {
    if (row.time_from == "record") continue;
    const auto found = recorded.find({row.student, row.lab, row.submission_sha256});
    if (found == recorded.end()) continue;
    row.submitted_at = found->second->submitted_at;
    row.time_from = found->second->time_from;
  }
}

/// Puts the attempts of each student and lab in order, and numbers them: by the platform's record,
/// where it has all of them, whichever call took them in first; else earlier calls' come first.
void number_attempts(std::vector<Row>& rows) {
  const auto by_student_and_lab = [](const Row& a, const Row& b) {
    return std::tie(a.student, a.lab) < std::tie(b.student, b.lab);
  };
  std::stable_sort(rows.begin(), rows.end(), by_student_and_lab);
  for (auto first = rows.begin(), end = first; first != rows.end(); first = end) {
    end = std::upper_bound(first, rows.end(), *first, by_student_and_lab);
    const bool is_recorded = end - first > 1 && std::all_of(first, end, [](const Row& row) {
                               return row.attempt > 0 && row.time_from == "record";
                             });
    if (is_recorded)
      std::stable_sort(first, end,
                       [](const Row& a, const Row& b) { return a.submitted_at < b.submitted_at; });
    for (auto row = first; row != end; ++row) {
      if (is_recorded)
        row->attempt = static_cast<int>(row - first) + 1;
      else if (row != first && row->attempt > 0)
        row->attempt = std::max(row->attempt, (row - 1)->attempt + 1);
    }
  }
}

/// The plan of this call with the rows of earlier ones that it does not replace. Replaced is what
/// came in the same folder or archive for the same labs, what names the same student and lab
/// (unless the platform recorded that it came later), and who handed in nothing and now has. Where
/// the best attempt counts, another text of the same student and lab stays as another attempt. Rows
/// of this call's labs are graded with the lab as it is now; other labs keep the jobs that they
/// have.
Plan merged(const Plan& earlier, Plan now, const Settings& settings,
            std::vector<std::string>& notes) {
  keep_records(earlier.rows, now.rows);
  const Keeping keeping(now);
  std::vector<Row> rows;
  std::map<std::string, Job> jobs;
  std::set<StudentLab> handed_in;
  std::map<StudentLab, std::string> recorded;  // the newest that stays
  std::size_t older = 0;
  for (const Row& row : earlier.rows) {
    if (!keeping.stays(row)) continue;
    rows.push_back(row);
    if (row.attempt > 0) handed_in.emplace(row.student, row.lab);
    if (row.attempt > 0 && row.time_from == "record") {
      std::string& newest = recorded[{row.student, row.lab}];
      newest = std::max(newest, row.submitted_at);
    }
    if (row.job.empty()) continue;
    if (const auto lab = now.labs.find(row.lab); lab != now.labs.end()) {
      Job job =
          job_for(row.lab, row.submission_sha256, lab->second.digests, settings, now.batch_seed);
      rows.back().job = job.key;
      jobs.emplace(job.key, std::move(job));
    } else if (const Job* job = earlier.job(row.job)) {
      jobs.emplace(job->key, *job);
    }
  }
  for (Row& row : now.rows) {
    // Somebody of the roster who is missing in this call's folder but not in an earlier one.
    if (row.attempt == 0 && handed_in.contains({row.student, row.lab})) continue;
    if (const auto newest = recorded.find({row.student, row.lab});
        newest != recorded.end() && !keeping.replaces(row, newest->second)) {
      ++older;
      continue;
    }
    rows.push_back(std::move(row));
  }
  if (older > 0)
    notes.push_back(std::to_string(older) +
                    (older == 1 ? " submission came" : " submissions came") +
                    " before what an earlier call took in, by the platform's record: the later one "
                    "counts");
  for (Job& job : now.jobs) jobs.emplace(job.key, std::move(job));
  number_attempts(rows);
  now.rows = std::move(rows);
  now.jobs.clear();
  for (auto& [key, job] : jobs) now.jobs.push_back(std::move(job));
  for (const auto& [lab, planned] : earlier.labs) now.labs.emplace(lab, planned);
  return now;
}

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

namespace {

/// Nobody whom the course has forgotten comes back with a later folder or roster: their rows go,
/// and what a call has just put into the store of them.
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

}  // namespace

Plan joined(const std::optional<Plan>& earlier, Plan now, const PlanRequest& request,
            const intake::Roster& roster, std::vector<std::string>& notes) {
  if (earlier) {
    now.forgotten = earlier->forgotten;
    now = merged(*earlier, std::move(now), request.settings, notes);
  }
  identify(now, roster);
  drop_forgotten(now, request.out, notes);
  return now;
}

}  // namespace membound::queue
