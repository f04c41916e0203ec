// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <system_error>
#include <utility>

#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/intake/store.hpp"
#include "grader/classroom/queue/audit.hpp"
#include "grader/classroom/queue/batch_jobs.hpp"
#include "grader/classroom/queue/batch_plan.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;

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

base::Status keep_roster(const fs::path& out, const std::string& text) {
  const auto old = base::read_file(kept_roster(out));
  if (old && *old == text) return base::Done{};
  return base::write_durably(kept_roster(out), text, "plan");
}

void add_reconciled(const ledger::Reconciled& found, std::vector<std::string>& notes) {
  if (found.taken_over > 0)
    notes.push_back(std::to_string(found.taken_over) + " verdicts taken over from result files");
  if (found.interrupted > 0)
    notes.push_back("the last call ended while " + std::to_string(found.interrupted) +
                    " submissions were being graded; they are graded again");
  notes.insert(notes.end(), found.notes.begin(), found.notes.end());
}

AuditStart audit_start(const Plan& plan, const ledger::Verdicts& verdicts,
                       const std::vector<PlannedAudit>& audits, int workers) {
  const int at_once = audit_workers(workers);
  return {audits.size(), at_once, audit_seconds(plan, verdicts, audits, at_once)};
}

/// Runs whole what earned points for a predicted speed, once all verdicts are there.
template <typename Execute>
base::Result<Executed> audit(const Plan& plan, const BatchRequest& request, ledger::Ledger& ledger,
                             const Execute& execute) {
  AuditStart start;
  const auto audits = audits_for(plan, request, ledger, start.notes);
  if (!audits) return audits.error();
  const auto verdicts = ledger::read_verdicts(request.out, request.ledger.key_file);
  if (!verdicts) return verdicts.error();
  std::vector<std::string> notes = std::move(start.notes);
  start = audit_start(plan, *verdicts, *audits, request.workers);
  start.notes = std::move(notes);
  if (request.on_audit) request.on_audit(start);
  std::vector<const Job*> queue;
  for (const PlannedAudit& one : *audits) queue.push_back(&one.job);
  return execute(queue, start.workers);
}

}  // namespace

fs::path kept_roster(const fs::path& out) { return out / "roster.csv"; }

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
  const auto execute = [&](const std::vector<const Job*>& jobs, int workers) {
    return request.executor ? request.executor(work, jobs) : run_local(work, jobs, workers);
  };
  auto executed = execute(*queue, request.workers);
  if (executed && !executed->stopped && request.audit) {
    auto audited = audit(*plan, request, *ledger, execute);
    if (audited) audited->graded = executed->graded;
    executed = std::move(audited);
  }

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
  const auto left = open_audits(*plan, *verdicts);
  summary.not_audited = audit_start(*plan, *verdicts, left, request.workers);
  summary.plan = std::move(*plan);
  summary.graded = executed->graded;
  summary.stopped = executed->stopped;
  return summary;
}

}  // namespace membound::queue
