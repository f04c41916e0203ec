// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/batch.hpp"

#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "grader/base/csv.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/intake/entries.hpp"
#include "grader/classroom/queue/audit.hpp"

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

/// Opens again what `request` wants graded anew.
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

/// The open jobs that the call means and that verdicts made now would fit; `notes` tells how many
/// are left for another call.
base::Result<std::vector<const Job*>> queue_of(const Plan& plan, const BatchRequest& request,
                                               const ledger::Ledger& ledger,
                                               std::vector<std::string>& notes) {
  const auto only = jobs_of(plan, request.only, request.intake.lab);
  if (!only) return only.error();
  std::set<std::string> open;
  std::set<std::string> wanted;
  for (const Row& row : plan.rows)
    if (row.left_out.empty()) wanted.insert(row.job);
  for (const ledger::JobState& job : ledger.jobs())
    if (job.state == ledger::State::kQueued && wanted.contains(job.key)) open.insert(job.key);
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
      notes.push_back(base::counted(left[lab], "submission") + " of " + lab +
                      " are left for another call: " + base::to_string(fit.error()));
  return queue;
}

/// What the call is to audit, the most points first, of verdicts that audits made now would fit;
/// `notes` tells how many are left for another call. With `retry_failed` what failed by our own
/// fault is opened again.
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
    notes.push_back(base::counted(count, "stage") + " of " + lab +
                    " are left unaudited: " + base::to_string(fits.at(lab).error()));
  std::vector<std::string> keys;
  for (const PlannedAudit& audit : wanted) keys.push_back(audit.job.key);
  const auto known = ledger.add(keys);
  if (!known) return known.error();
  return wanted;
}

/// Of the queue what may be graded now where students have a budget of grading time: one text of
/// each at a time, because what it takes decides about the next.
base::Result<std::vector<const Job*>> within_budget(const Plan& plan, const BatchRequest& request,
                                                    const std::vector<const Job*>& queue) {
  const auto verdicts = ledger::read_verdicts(request.out, request.ledger.key_file);
  if (!verdicts) return verdicts.error();
  const auto spent = seconds_spent(plan, *verdicts);
  std::set<std::string> queued, busy, chosen;
  for (const Job* job : queue) queued.insert(job->key);
  for (const Row& row : plan.rows) {
    if (!row.left_out.empty() || !queued.contains(row.job) || verdicts->grades.contains(row.job) ||
        busy.contains(row.student))
      continue;
    busy.insert(row.student);
    const auto own = spent.find(row.student);
    if (own == spent.end() || own->second < *plan.rules.limits.seconds_a_student)
      chosen.insert(row.job);
  }
  std::vector<const Job*> now;
  for (const Job* job : queue)
    if (chosen.contains(job->key)) now.push_back(job);
  return now;
}

/// Does the queue, in one go or as far as the students' budgets let it.
template <typename Execute>
base::Result<Executed> work_off(const Plan& plan, const BatchRequest& request,
                                const std::vector<const Job*>& queue, const Execute& execute) {
  if (!plan.rules.limits.seconds_a_student) return execute(queue, request.workers);
  Executed all;
  for (;;) {
    const auto now = within_budget(plan, request, queue);
    if (!now) return now.error();
    if (now->empty()) return all;
    const auto some = execute(*now, request.workers);
    if (!some) return some.error();
    all.graded += some->graded;
    all.stopped = some->stopped;
    if (all.stopped || some->graded == 0) return all;
  }
}

void add_reconciled(const ledger::Reconciled& found, std::vector<std::string>& notes) {
  if (found.taken_over > 0)
    notes.push_back(base::counted(found.taken_over, "verdict") + " taken over from result files");
  if (found.interrupted > 0)
    notes.push_back("the last call ended during the grading of " +
                    base::counted(found.interrupted, "submission") + ", which begins again");
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

  auto plan = plan_call(request, *ledger, start.notes);
  if (!plan) return plan.error();
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
  auto executed = work_off(*plan, request, *queue, execute);
  if (executed && !executed->stopped && request.audit) {
    auto audited = audit(*plan, request, *ledger, execute);
    if (audited) audited->graded = executed->graded;
    executed = std::move(audited);
  }

  // Whatever stopped it: what is graded is written.
  BatchSummary summary;
  const auto verdicts = ledger::read_verdicts(request.out, request.ledger.key_file);
  if (!verdicts) return executed ? verdicts.error() : executed.error();
  auto grades = write_class(request.out, *plan, *verdicts, request.detail);
  if (!executed) return executed.error();
  if (!grades) return grades.error();
  summary.grades = *std::move(grades);
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

namespace {

using course::Grade;

/// "FAIL_SLOW, 6 of 10".
std::string mark_words(const Grade& grade) {
  return (grade.excused ? "excused" : verdict_words(grade)) + ", " +
         (grade.score ? course::short_decimal(*grade.score) : "withheld") + " of " +
         course::short_decimal(grade.max_score);
}

/// "stage 2: slow, now passed".
void add_stage_changes(const Grade& before, const Grade& after, std::string& why) {
  for (const course::StageResult& now : after.result.stages) {
    const auto& stages = before.result.stages;
    const auto then = std::find_if(stages.begin(), stages.end(),
                                   [&now](const auto& one) { return one.stage == now.stage; });
    const std::string name = "stage " + std::to_string(now.stage) + ": ";
    if (then == stages.end()) continue;
    if (then->verdict != now.verdict)
      base::add_note(why, name + std::string(course::row_of(then->verdict).words) + ", now " +
                              std::string(course::row_of(now.verdict).words));
    else if (then->points != now.points || then->max_points != now.max_points)
      base::add_note(why, name + course::short_decimal(then->points) + " of " +
                              course::short_decimal(then->max_points) + " points, now " +
                              course::short_decimal(now.points) + " of " +
                              course::short_decimal(now.max_points));
  }
}

std::string why_changed(const Grade& before, const Grade& after) {
  std::string why, parts;
  const auto part = [&parts](const char* name, const std::string& then, const std::string& now) {
    if (then != now) base::add_word(parts, name);
  };
  part("the lab", before.digests.lab, after.digests.lab);
  part("the test program or the reference", before.digests.harness, after.digests.harness);
  part("the compiler", before.digests.toolchain, after.digests.toolchain);
  part("the limits", before.digests.limits, after.digests.limits);
  if (!parts.empty()) why = parts + " changed";
  add_stage_changes(before, after, why);
  if (before.late_factor != after.late_factor)
    base::add_note(why, "lateness costs " + course::short_decimal(100 * (1 - after.late_factor)) +
                            " % instead of " +
                            course::short_decimal(100 * (1 - before.late_factor)) + " %");
  if (before.attempt != after.attempt)
    base::add_note(why, "attempt " + std::to_string(after.attempt) + " counts instead of " +
                            std::to_string(before.attempt));
  if (before.mark.has_value() != after.mark.has_value()) base::add_note(why, "a mark by hand");
  if (why.empty()) why = after.note;
  return why;
}

}  // namespace

std::vector<Change> changes_between(const ClassGrades& before, const ClassGrades& after) {
  std::vector<Change> changes;
  std::map<std::pair<std::string, std::string>, const Grade*> then;
  for (const Grade& grade : before.grades) then[{grade.student, grade.lab}] = &grade;
  for (const Grade& grade : after.grades) {
    const auto old = then.find({grade.student, grade.lab});
    if (old == then.end())
      changes.push_back({grade.student, grade.lab, "", mark_words(grade), "not graded before"});
    else if (mark_words(*old->second) != mark_words(grade))
      changes.push_back({grade.student, grade.lab, mark_words(*old->second), mark_words(grade),
                         why_changed(*old->second, grade)});
  }
  const auto totals = [](const ClassGrades& all) {
    const course::CourseTable table = course::course_table(all.grades, all.worth, all.counting);
    std::map<std::string, std::string> of;
    for (const course::CourseRow& row : table.rows)
      of[row.any->student] = course::total_text(table, row);
    return of;
  };
  const auto old_totals = totals(before);
  for (const auto& [student, total] : totals(after))
    if (const auto old = old_totals.find(student); old == old_totals.end() || old->second != total)
      changes.push_back(
          {student, "", old == old_totals.end() ? "" : old->second, total, "the total"});
  return changes;
}

std::string changes_csv(const std::vector<Change>& changes) {
  base::CsvTable table;
  table.header = {"student", "lab", "before", "after", "why"};
  for (const Change& one : changes)
    table.rows.push_back({one.student, one.lab, one.before, one.after, one.why});
  return base::write_csv(table, base::CsvReader::kSpreadsheet);
}

namespace {

/// Everything that a call reads of OUT, in another folder. Results and texts are the same files:
/// nobody writes into one that is there.
base::Status copy_batch(const BatchRequest& request, const fs::path& copy) {
  using fs::copy_options;
  const fs::path& out = request.out;
  std::error_code error;
  {
    // Nobody else changes it meanwhile.
    const auto held = ledger::Ledger::open(out, request.ledger);
    if (!held) return held.error();
    fs::remove_all(copy, error);
    fs::create_directories(copy, error);
    for (const char* name : {"batch.json", "ledger.sqlite", "key", "roster.csv"})
      if (!error && fs::exists(out / name)) fs::copy_file(out / name, copy / name, error);
    for (const char* folder : {"results", "store"})
      if (!error && fs::exists(out / folder))
        fs::copy(out / folder, copy / folder,
                 copy_options::recursive | copy_options::create_hard_links, error);
    const fs::path reference = fs::path("work") / "reference";
    if (!error && fs::exists(out / reference)) {
      fs::create_directories(copy / "work", error);
      fs::copy(out / reference, copy / reference, copy_options::recursive, error);
    }
  }
  if (!error) fs::copy_file(out / "lock", copy / "lock", error);
  if (!error) return base::Done{};
  return base::Error{base::ErrorKind::kMachine, copy.string(), "cannot be made: " + error.message(),
                     "room for a copy of the ledger", "make room; nothing was changed"};
}

}  // namespace

base::Result<Rehearsal> rehearse_batch(const BatchRequest& request) {
  BatchRequest asked = request;
  std::error_code ignored;
  asked.out = fs::absolute(request.out, ignored).lexically_normal();
  if (!fs::exists(asked.out / "batch.json", ignored)) return no_batch(request.out);
  const auto before = read_class(asked.out, request.ledger.key_file, Detail::kShown);
  if (!before) return before.error();
  const fs::path copy = asked.out / "rehearsal";
  const auto copied = copy_batch(asked, copy);
  base::Result<Rehearsal> found = Rehearsal{};
  if (!copied) {
    found = copied.error();
  } else {
    asked.out = copy;
    asked.update = true;
    asked.detail = Detail::kShown;
    const auto summary = run_batch(asked);
    if (summary)
      found = Rehearsal{changes_between(*before, summary->grades), summary->stopped};
    else
      found = summary.error();
  }
  fs::remove_all(copy, ignored);
  return found;
}

}  // namespace membound::queue
