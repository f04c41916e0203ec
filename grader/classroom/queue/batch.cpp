// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/durable_file.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/text_files.hpp"
#include "grader/classroom/intake/store.hpp"
#include "grader/classroom/intake/student_names.hpp"
#include "grader/classroom/queue/plan_merge.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;
using intake::AttemptPolicy;

base::Error no_batch(const fs::path& out) {
  return {base::ErrorKind::kUsage, out.string(), "there is no batch to go on with",
          "a folder that membound grade made", "membound grade SUBMISSIONS --out " + out.string()};
}

/// Nothing is made for a call that could not have been meant.
base::Status check_sources(const fs::path& out, const std::vector<fs::path>& sources) {
  std::error_code error;
  if (sources.empty() && !fs::exists(out / "batch.json", error)) return no_batch(out);
  for (const fs::path& source : sources) {
    if (fs::exists(fs::symlink_status(source, error))) continue;
    return base::Error{base::ErrorKind::kInput, source.string(),
                       "cannot be read: " + error.message(), "a readable folder or file",
                       "check its path and rights"};
  }
  return base::Done{};
}

/// A folder with something else in it is not made a batch's.
base::Status check_folder(const fs::path& out) {
  std::error_code error;
  if (!fs::exists(out, error) || fs::exists(out / "lock", error)) return base::Done{};
  if (fs::is_directory(out, error) && fs::is_empty(out, error)) return base::Done{};
  return base::Error{base::ErrorKind::kUsage, out.string(),
                     "holds something that membound grade did not write", "a new or empty folder",
                     "use another --out"};
}

/// The earlier plan's seed, the one that was asked for, or a new one: 256 bits.
std::string batch_seed(const BatchRequest& request, const std::optional<Plan>& earlier) {
  if (request.seed) return base::sha256("seed " + std::to_string(*request.seed));
  if (earlier) return earlier->batch_seed;
  return base::hex(base::random_bytes(32));
}

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

/// Writes the plan where it changed, and makes the ledger know it.
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

base::Status keep_roster(const fs::path& out, const std::string& text) {
  const auto old = base::read_file(kept_roster(out));
  if (old && *old == text) return base::Done{};
  return base::write_durably(kept_roster(out), text, "plan");
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

void add_reconciled(const ledger::Reconciled& found, std::vector<std::string>& notes) {
  if (found.taken_over > 0)
    notes.push_back(std::to_string(found.taken_over) + " verdicts taken over from result files");
  if (found.interrupted > 0)
    notes.push_back("the last call ended while " + std::to_string(found.interrupted) +
                    " submissions were being graded; they are graded again");
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
}

}  // namespace

fs::path kept_roster(const fs::path& out) { return out / "roster.csv"; }

bool is_meant(const Row& row, const std::string& word) {
  const std::string wanted = intake::folded(word);
  return wanted == intake::folded(row.student) || wanted == intake::folded(row.name) ||
         wanted == intake::folded(row.email);
}

base::Result<BatchSummary> run_batch(const BatchRequest& given) {
  BatchRequest request = given;
  // Compilers and test programs run in other folders.
  std::error_code ignored;
  request.out = fs::absolute(request.out, ignored).lexically_normal();
  request.intake.out = request.out;
  request.intake.labs = request.settings.course->labs;
  request.settings.place.state = request.out / "work";
  const auto usable = check_folder(request.out);
  if (!usable) return usable.error();
  // Sweeps away what killed graders left, whatever comes of this call.
  const auto limits = limits_in_force(request.settings);
  if (!limits) return limits.error();
  const auto there = check_sources(request.out, request.intake.sources);
  if (!there) return there.error();

  auto ledger = ledger::Ledger::open(request.out, request.ledger);
  if (!ledger) return ledger.error();
  const intake::Store store(request.out);
  BatchStart start;
  store.sweep();
  fs::remove_all(request.settings.place.state / "tmp", ignored);

  const auto earlier = read_plan(request.out);
  if (!earlier) return earlier.error();
  auto plan = plan_for(request, *earlier, start.notes);
  if (!plan) return plan.error();
  const auto kept = keep_plan(request.out, *plan, *earlier, *ledger);
  if (!kept) return kept.error();
  if (request.roster_text) {
    const auto written = keep_roster(request.out, *request.roster_text);
    if (!written) return written.error();
  }
  const auto reconciled = ledger->reconcile();
  if (!reconciled) return reconciled.error();
  add_reconciled(*reconciled, start.notes);
  std::vector<course::Grade> before;
  if (!request.requests.empty()) {
    const auto known = ledger::read_verdicts(request.out, request.ledger.key_file);
    if (!known) return known.error();
    before = class_grades(*plan, *known, Detail::kSummary).grades;
  }
  const auto regrading = queue_regrading(*plan, request, *ledger);
  if (!regrading) return regrading.error();
  const auto queue = queue_of(*plan, request, *ledger, start.notes);
  if (!queue) return queue.error();

  start.rows = plan->rows.size();
  start.jobs = plan->jobs.size();
  start.queued = queue->size();
  start.limits = plan->limits;
  if (request.on_start) request.on_start(start);

  const Work work{&*plan,       &request.settings, &*ledger,         &store,
                  request.stop, request.watcher,   request.grade_one};
  const auto executed =
      request.executor ? request.executor(work, *queue) : run_local(work, *queue, request.workers);

  // Whatever stopped it: what is graded is written.
  BatchSummary summary;
  const auto verdicts = ledger::read_verdicts(request.out, request.ledger.key_file);
  if (!verdicts) return executed ? verdicts.error() : executed.error();
  summary.grades = class_grades(*plan, *verdicts, request.detail);
  const auto written = write_outputs(request.out, *plan, *verdicts);
  if (!executed) return executed.error();
  if (!written) return written.error();
  if (!request.requests.empty()) {
    const auto answered = base::write_durably(
        request.out / "regrade-decisions.csv",
        decisions_csv(request.requests, before, summary.grades.grades), "report");
    if (!answered) return answered.error();
  }
  if (base::failpoint("batch.done")) return base::Error{base::ErrorKind::kMachine, "", "full"};
  summary.plan = std::move(*plan);
  summary.graded = executed->graded;
  summary.stopped = executed->stopped;
  return summary;
}

}  // namespace membound::queue
