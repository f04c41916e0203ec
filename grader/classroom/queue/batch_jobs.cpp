// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch_jobs.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "grader/classroom/intake/student_names.hpp"

namespace membound::queue {
namespace {

/// Whether verdicts made now would be those that the plan asks for in one lab.
base::Status check_fit(const Plan& plan, const std::string& id, const Settings& settings) {
  const std::string advice = "give the submissions again: what is still valid is kept";
  const PlannedLab& planned = plan.labs.at(id);
  if (planned.device != settings.device.name) {
    return base::Error{
        base::ErrorKind::kUsage, "--device",
        "is " + settings.device.name + ", and " + id + " is graded on " + planned.device,
        "--device " + planned.device, advice};
  }
  const auto lab = std::find_if(settings.course->labs.begin(), settings.course->labs.end(),
                                [&id](const course::Lab& one) { return one.id == id; });
  if (lab == settings.course->labs.end()) {
    return base::Error{base::ErrorKind::kUsage, "batch.json",
                       "was planned for the lab " + id + ", which this course does not have", "",
                       "use the course it was made with"};
  }
  const auto limits = limits_in_force(settings);
  if (!limits) return limits.error();
  const auto now = digests_of(settings, *lab, *limits);
  if (!now) return now.error();
  if (*now == planned.digests) return base::Done{};
  return base::Error{base::ErrorKind::kUsage, id,
                     "the lab, its test program, the compiler or the limits changed since the "
                     "batch was planned",
                     "the same course and build", advice};
}

/// Keys of the jobs of the students that `words` mean ("all": everybody), in one lab where one is
/// named; a word that means nobody is an error.
base::Result<std::set<std::string>> jobs_of(const Plan& plan, const std::vector<std::string>& words,
                                            const std::optional<std::string>& lab) {
  std::set<std::string> keys;
  for (const std::string& word : words) {
    bool found = false;
    for (const Row& row : plan.rows) {
      if (lab && row.lab != *lab) continue;
      if (word != "all" && !is_meant(row, word)) continue;
      found = true;
      if (!row.job.empty()) keys.insert(row.job);
    }
    if (!found) {
      return base::Error{base::ErrorKind::kUsage, word, "nobody of that name handed something in",
                         "a student's id, name or email as in grades.csv", ""};
    }
  }
  return keys;
}

}  // namespace

bool is_meant(const Row& row, const std::string& word) {
  const std::string wanted = intake::folded(word);
  return wanted == intake::folded(row.student) || wanted == intake::folded(row.name) ||
         wanted == intake::folded(row.email);
}

base::Status queue_regrading(const Plan& plan, const BatchRequest& request,
                             ledger::Ledger& ledger) {
  auto keys = jobs_of(plan, request.regrade, request.intake.lab);
  if (!keys) return keys.error();
  for (const RegradeRequest& asked : request.requests)
    for (const Row& row : plan.rows)
      if (!row.job.empty() && is_meant(row, asked.student) &&
          (asked.lab.empty() || asked.lab == row.lab))
        keys->insert(row.job);
  if (request.retry_failed) {
    const auto verdicts = ledger::read_verdicts(request.out, request.ledger.key_file);
    if (!verdicts) return verdicts.error();
    for (const auto& [key, grade] : verdicts->grades)
      if (grade.verdict == course::GradeVerdict::kInfraError && plan.job(key) != nullptr)
        keys->insert(key);
  }
  for (const std::string& key : *keys) {
    const auto fits = check_fit(plan, plan.job(key)->lab, request.settings);
    if (!fits) return fits;
    const auto queued = ledger.regrade(key);
    if (!queued) return queued;
  }
  return base::Done{};
}

base::Result<std::vector<const Job*>> queue_of(const Plan& plan, const BatchRequest& request,
                                               const ledger::Ledger& ledger,
                                               std::vector<std::string>& notes) {
  const auto only = jobs_of(plan, request.only, request.intake.lab);
  if (!only) return only.error();
  std::set<std::string> open;
  for (const ledger::JobState& job : ledger.jobs())
    if (job.state == ledger::State::kQueued) open.insert(job.key);
  std::vector<const Job*> queue;
  std::map<std::string, base::Status> fits;
  std::map<std::string, std::size_t> left;
  for (const Job& job : plan.jobs) {
    if (!open.contains(job.key) || (!request.only.empty() && !only->contains(job.key))) continue;
    if (request.intake.lab && *request.intake.lab != job.lab) continue;
    const auto fit = fits.try_emplace(job.lab, base::Done{}).first;
    if (!left.contains(job.lab)) fit->second = check_fit(plan, job.lab, request.settings);
    if (!fit->second && request.intake.sources.empty()) return fit->second.error();
    ++left[job.lab];
    if (fit->second) queue.push_back(&job);
  }
  for (const auto& [lab, fit] : fits)
    if (!fit)
      notes.push_back(std::to_string(left[lab]) + " submissions of " + lab +
                      " are left for another call: " + base::to_string(fit.error()));
  return queue;
}

base::Result<std::vector<PlannedAudit>> audits_for(const Plan& plan, const BatchRequest& request,
                                                   ledger::Ledger& ledger,
                                                   std::vector<std::string>& notes) {
  const auto only = jobs_of(plan, request.only, request.intake.lab);
  if (!only) return only.error();
  auto verdicts = ledger::read_verdicts(request.out, request.ledger.key_file);
  if (!verdicts) return verdicts.error();
  if (request.retry_failed) {
    for (const PlannedAudit& audit : audits_of(plan, *verdicts)) {
      const auto found = verdicts->grades.find(audit.job.key);
      const bool failed = verdicts->quarantined.contains(audit.job.key) ||
                          (found != verdicts->grades.end() &&
                           found->second.verdict == course::GradeVerdict::kInfraError);
      if (!failed) continue;
      const auto opened = ledger.regrade(audit.job.key);
      if (!opened) return opened.error();
      verdicts->grades.erase(audit.job.key);
      verdicts->quarantined.erase(audit.job.key);
    }
  }
  std::map<std::string, base::Status> fits;
  std::map<std::string, std::size_t> left;
  std::vector<PlannedAudit> wanted;
  for (PlannedAudit& audit : open_audits(plan, *verdicts)) {
    const Job& job = audit.job;
    if (!request.only.empty() && !only->contains(job.audited)) continue;
    if (request.intake.lab && *request.intake.lab != job.lab) continue;
    const auto [fit, is_new] = fits.try_emplace(job.lab, base::Done{});
    if (is_new) fit->second = check_fit(plan, job.lab, request.settings);
    if (fit->second)
      wanted.push_back(std::move(audit));
    else
      ++left[job.lab];
  }
  for (const auto& [lab, count] : left)
    notes.push_back(std::to_string(count) + " stages of " + lab +
                    " are left unaudited: " + base::to_string(fits.at(lab).error()));
  std::vector<std::string> keys;
  for (const PlannedAudit& audit : wanted) keys.push_back(audit.job.key);
  const auto known = ledger.add(keys);
  if (!known) return known.error();
  return wanted;
}

}  // namespace membound::queue
