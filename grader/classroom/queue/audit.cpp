// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/audit.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <tuple>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/process.hpp"
#include "grader/classroom/queue/one_submission.hpp"
#include "grader/judge/check_device.hpp"

namespace membound::queue {
namespace {

/// Warp instructions that one processor runs in a second, for results alone:
/// grader/gpu_truth/records/checker_costs.md.
constexpr double kUsualRate = 9e7;
/// Compiling is kept from the verdict; what is left is starting runners and drawing inputs.
constexpr double kSecondsAround = 0.5;
/// What an audit runs is chosen so that it ends in about this time (harness/lab/stage_coverage).
constexpr double kLongestAudit = 10;

/// Of the first timed case: the size that an audit runs.
double instructions_of(const course::StageResult& stage) {
  double all = 0;
  for (const course::KernelProfile& profile : stage.profiles)
    if (!stage.timings.empty() && profile.label == stage.timings.front().label)
      all += static_cast<double>(profile.warp_instructions) * profile.launches;
  return all;
}

double seconds_of(const PlannedAudit& audit, double rate) {
  return kSecondsAround + std::min(kLongestAudit, audit.warp_instructions / rate);
}

/// Of the audits that were made; the usual one where there are none.
double rate_of(const Plan& plan, const ledger::Verdicts& verdicts) {
  double instructions = 0, seconds = 0;
  for (const PlannedAudit& audit : audits_of(plan, verdicts)) {
    const auto done = verdicts.grades.find(audit.job.key);
    if (done == verdicts.grades.end() || !done->second.audit) continue;
    for (const course::AuditedStage& stage : done->second.audit->stages) {
      if (!stage.right() || stage.seconds <= kSecondsAround) continue;
      instructions += audit.warp_instructions;
      seconds += stage.seconds - kSecondsAround;
    }
  }
  return instructions > 0 && seconds > 0 ? instructions / seconds : kUsualRate;
}

/// "MemAvailable:   12345 kB" of /proc/meminfo; a machine that does not say is no reason to wait.
std::size_t free_memory_bytes() {
  std::ifstream lines("/proc/meminfo");
  for (std::string word; lines >> word;) {
    std::size_t kilobytes = 0;
    if (word == "MemAvailable:" && lines >> kilobytes) return kilobytes << 10;
  }
  return std::numeric_limits<std::size_t>::max();
}

}  // namespace

std::string audit_key(const std::string& verdict, int round, int stage) {
  return base::sha256("membound-audit/1\n" + verdict + "\n" + std::to_string(round) + "\n" +
                      std::to_string(stage));
}

std::vector<PlannedAudit> audits_of(const Plan& plan, const ledger::Verdicts& verdicts) {
  std::vector<PlannedAudit> all;
  for (const Job& job : plan.jobs) {
    const auto found = verdicts.grades.find(job.key);
    if (found == verdicts.grades.end()) continue;
    for (const course::StageResult& stage : found->second.result.stages) {
      if (!found->second.earned_by_prediction(stage)) continue;
      PlannedAudit audit{job, stage.points, instructions_of(stage)};
      audit.job.key = audit_key(job.key, verdicts.rounds.at(job.key), stage.stage);
      audit.job.audited = job.key;
      audit.job.audited_stage = stage.stage;
      all.push_back(std::move(audit));
    }
  }
  std::sort(all.begin(), all.end(), [](const PlannedAudit& a, const PlannedAudit& b) {
    return std::tie(b.points, a.job.key) < std::tie(a.points, b.job.key);
  });
  return all;
}

std::vector<PlannedAudit> open_audits(const Plan& plan, const ledger::Verdicts& verdicts) {
  std::vector<PlannedAudit> open = audits_of(plan, verdicts);
  std::erase_if(open, [&](const PlannedAudit& audit) {
    return verdicts.grades.contains(audit.job.key) || verdicts.quarantined.contains(audit.job.key);
  });
  return open;
}

double audit_seconds(const Plan& plan, const ledger::Verdicts& verdicts,
                     const std::vector<PlannedAudit>& open, int workers) {
  const double rate = rate_of(plan, verdicts);
  double seconds = 0, longest = 0;
  for (const PlannedAudit& audit : open) {
    const double one = seconds_of(audit, rate);
    seconds += one;
    longest = std::max(longest, one);
  }
  const int at_once = std::min(workers, static_cast<int>(base::processors()));
  return std::max(longest, seconds / std::max(1, at_once));
}

int audit_workers(int workers) {
  const std::size_t fit = std::max<std::size_t>(1, free_memory_bytes() / kAuditBytes);
  return static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(workers), fit));
}

}  // namespace membound::queue
