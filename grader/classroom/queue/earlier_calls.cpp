// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a call takes in, joined with what earlier calls of the batch planned: which rows stay, and
/// which attempt each is.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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

}  // namespace

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

}  // namespace membound::queue
