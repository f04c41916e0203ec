// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/plan_merge.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

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
    return now_.best_attempt && std::none_of(same->second.begin(), same->second.end(),
                                             [&](const Row* one) { return repeats(row, *one); });
  }

 private:
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

}  // namespace

Plan merged(const Plan& earlier, Plan now, const Settings& settings) {
  keep_records(earlier.rows, now.rows);
  const Keeping keeping(now);
  std::vector<Row> rows;
  std::map<std::string, Job> jobs;
  std::set<StudentLab> handed_in;
  for (const Row& row : earlier.rows) {
    if (!keeping.stays(row)) continue;
    rows.push_back(row);
    if (row.attempt > 0) handed_in.emplace(row.student, row.lab);
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
    rows.push_back(std::move(row));
  }
  for (Job& job : now.jobs) jobs.emplace(job.key, std::move(job));
  // Earlier calls' attempts come first: the sort keeps their order.
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tie(a.student, a.lab) < std::tie(b.student, b.lab);
  });
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i > 0 && rows[i].attempt > 0 && rows[i - 1].student == rows[i].student &&
        rows[i - 1].lab == rows[i].lab)
      rows[i].attempt = std::max(rows[i].attempt, rows[i - 1].attempt + 1);
  now.rows = std::move(rows);
  now.jobs.clear();
  for (auto& [key, job] : jobs) now.jobs.push_back(std::move(job));
  for (const auto& [lab, planned] : earlier.labs) now.labs.emplace(lab, planned);
  apply_rules(now);
  return now;
}

}  // namespace membound::queue
