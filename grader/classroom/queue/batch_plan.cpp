// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch_plan.hpp"

#include <set>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/queue/plan_merge.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using intake::AttemptPolicy;

/// The earlier plan's seed, the one that was asked for, or a new one: 256 bits.
std::string batch_seed(const BatchRequest& request, const std::optional<Plan>& earlier) {
  if (request.seed) return base::sha256("seed " + std::to_string(*request.seed));
  if (earlier) return earlier->batch_seed;
  return base::hex(base::random_bytes(32));
}

/// The instructor's rules, those of the earlier call where none are given, and what this call says
/// about `labs`.
intake::CourseRules rules_for(const BatchRequest& request, const std::optional<Plan>& earlier,
                              const std::set<std::string>& labs) {
  intake::CourseRules rules = request.rules ? *request.rules
                              : earlier     ? earlier->rules
                                            : intake::CourseRules();
  if (request.extensions) rules.extensions = *request.extensions;
  const intake::LabRules& now = request.rules_now;
  if (now.due || now.grace_minutes || now.percent_per_day)
    for (const std::string& lab : labs) rules.labs[lab].overlay(now);
  return rules;
}

AttemptPolicy attempts_for(const BatchRequest& request, const intake::CourseRules& rules,
                           const std::optional<Plan>& earlier) {
  if (request.intake.attempts) return *request.intake.attempts;
  const bool best = rules.best_attempt.value_or(earlier && earlier->best_attempt);
  return best ? AttemptPolicy::kBest : AttemptPolicy::kLatest;
}

}  // namespace

base::Error no_batch(const fs::path& out) {
  return {base::ErrorKind::kUsage, out.string(), "there is no batch to go on with",
          "a folder that membound grade made", "membound grade SUBMISSIONS --out " + out.string()};
}

base::Result<Plan> plan_for(const BatchRequest& request, const std::optional<Plan>& earlier,
                            std::vector<std::string>& notes) {
  if (request.intake.sources.empty()) {
    if (!earlier) return no_batch(request.out);
    Plan plan = *earlier;
    std::set<std::string> labs;
    for (const auto& [lab, planned] : plan.labs) labs.insert(lab);
    plan.rules = rules_for(request, earlier, labs);
    if (request.intake.attempts || plan.rules.best_attempt)
      plan.best_attempt = attempts_for(request, plan.rules, earlier) == AttemptPolicy::kBest;
    apply_rules(plan);
    return plan;
  }
  intake::IntakeRequest asked = request.intake;
  asked.attempts = attempts_for(request, rules_for(request, earlier, {}), earlier);
  auto intake = intake::take_in(asked);
  if (!intake) return intake.error();
  notes.insert(notes.end(), intake->notes.begin(), intake->notes.end());
  if (intake->submissions.empty() && (!asked.lab || intake->absent.empty())) {
    return base::Error{base::ErrorKind::kInput, request.intake.sources.front().string(),
                       "holds nothing that could be graded",
                       "folders or archives with a kernel.cu each",
                       "name the folder or archive that the learning system exported"};
  }
  std::set<std::string> labs;
  if (asked.lab) labs.insert(*asked.lab);
  for (const intake::Submission& one : intake->submissions) labs.insert(one.lab);
  auto plan = make_plan(*intake, asked, request.settings, batch_seed(request, earlier),
                        rules_for(request, earlier, labs));
  if (!plan || !earlier) return plan;
  return merged(*earlier, *std::move(plan), request.settings);
}

base::Status keep_plan(const fs::path& out, const Plan& plan, const std::optional<Plan>& earlier,
                       ledger::Ledger& ledger) {
  auto text = base::read_file(out / "batch.json");
  // To compare ten thousand rows takes much less time than to write them as text.
  if (!text || earlier != plan) {
    const std::string now = to_text(plan);
    if (!text || *text != now) {
      const auto written = base::write_durably(out / "batch.json", now, "plan");
      if (!written) return written;
    }
    text = now;
  }
  std::vector<std::string> keys;
  for (const Job& job : plan.jobs) keys.push_back(job.key);
  return ledger.plan(base::sha256(*text), keys);
}

}  // namespace membound::queue
