// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound grade: grades a class. With --spot-check DEVICE:N it times some passes of the batch
/// on another device.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/queue/batch.hpp"
#include "grader/classroom/queue/class_grades.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/classroom/queue/plan.hpp"
#include "grader/classroom/queue/replay.hpp"
#include "grader/classroom/queue/slurm_executor.hpp"
#include "grader/classroom/queue/slurm_task.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/staff/grade_options.hpp"
#include "grader/cli/staff/grade_progress.hpp"
#include "grader/judge/build_info.hpp"
#include "grader/report/progress_bar.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

/// What --spot-check asks for.
struct SpotCheck {
  queue::Settings settings;  ///< of the other device
  std::size_t passes = 0;    ///< that are timed there, at most
};

/// Where a batch is, and its key.
struct GradedBatch {
  std::filesystem::path out, key_file;
};

constexpr const char* kSpotCheckOption = "--spot-check";

/// Prints what a person should look at.
void print_differences(const queue::Retimed& one, const report::Style& style) {
  const std::string sign = style.sign(report::Tone::kWarning);
  if (!one.problem.empty())
    std::printf("%s %s, %s: cannot be timed on %s: %s\n", sign.c_str(), one.student.c_str(),
                one.lab.c_str(), one.device.c_str(), one.problem.c_str());
  for (const queue::RetimedStage& stage : one.stages)
    if (!stage.holds())
      std::printf("%s %s, %s stage %d: passed by prediction, %s on %s\n", sign.c_str(),
                  one.student.c_str(), one.lab.c_str(), stage.stage,
                  std::string(course::to_string(stage.verdict)).c_str(), one.device.c_str());
}

/// `word`: "gpu:5"; empty: nothing is asked for. `options` and `graded` are the batch's; `trust`:
/// --trust-submissions.
base::Result<std::optional<SpotCheck>> read_spot_check(const std::string& word,
                                                       judge::CheckOptions options, bool trust,
                                                       const queue::Settings& graded,
                                                       const Context& context) {
  if (word.empty()) return std::optional<SpotCheck>();
  SpotCheck check;
  const auto colon = word.rfind(':');
  const char* const end = word.data() + word.size();
  if (colon == std::string::npos ||
      std::from_chars(word.data() + colon + 1, end, check.passes).ptr != end || check.passes == 0) {
    return base::Error{base::ErrorKind::kUsage, kSpotCheckOption, "\"" + word + "\"",
                       "a device and how many passes are timed there, as in gpu:5", ""};
  }
  if (!graded.device.kind->has_checkers()) {
    return base::Error{
        base::ErrorKind::kUsage, kSpotCheckOption, "the class is graded on " + graded.device.name,
        "--device vgpu or vgpu:MODEL beside it: predicted passes are timed again", ""};
  }
  options.device = word.substr(0, colon);
  auto settings = grading_settings(context, options, trust);
  if (!settings) return settings.error();
  check.settings = *std::move(settings);
  check.settings.device_seconds = graded.device_seconds;
  return std::optional(std::move(check));
}

/// Times passes of the batch again, writes OUT/spot-check.csv and tells what does not hold there.
/// The exit code.
int run_spot_check(const SpotCheck& check, const GradedBatch& batch, const Context& context) {
  const auto plan = queue::read_plan(batch.out);
  if (!plan) return report_error(plan.error());
  const auto all = queue::read_class(batch.out, batch.key_file, queue::Detail::kShown);
  if (!all) return report_error(all.error());
  const auto chosen = queue::passes_to_retime(all->grades, check.passes,
                                              *plan ? (*plan)->batch_seed : std::string());
  const auto file = batch.out / "spot-check.csv";
  const std::atomic<bool>* const stop = catch_interrupts();
  std::vector<queue::Retimed> retimed;
  {
    report::Progress progress("timing again", static_cast<int>(chosen.size()), context.err,
                              context.err_is_terminal);
    for (const course::Grade* grade : chosen) {
      const int done = static_cast<int>(retimed.size());
      const std::string who = grade->student + ", " + grade->lab;
      retimed.push_back(
          queue::retime(batch.out, *grade, check.settings, stop,
                        [&](const std::string& doing) { progress.now(who + ", " + doing, done); }));
      if (*stop) return kExitInterrupted;
      const auto written = base::write_file(file, queue::spot_check_csv(retimed));
      if (!written) return report_error(written.error());
    }
  }
  std::size_t to_look_at = 0;
  for (const queue::Retimed& one : retimed) {
    if (!one.holds() || !one.problem.empty()) ++to_look_at;
    print_differences(one, context.out);
  }
  std::printf("%s timed again on %s, %zu to look at: %s\n",
              base::counted(retimed.size(), "pass").c_str(), check.settings.device.name.c_str(),
              to_look_at, file.c_str());
  return kExitPassed;
}

constexpr std::uint64_t kMostMinutes = 10 * 365 * 24 * 60;  // ten years

int workers_for(const GradeOptions& options) {
  if (options.jobs > 0) return options.jobs;
  return static_cast<int>(base::processors());
}

void print_start(const queue::BatchStart& start) {
  for (const std::string& note : start.notes) std::fprintf(stderr, "membound: %s\n", note.c_str());
  std::fprintf(stderr, "membound: %s, %s, %zu to grade\n", base::counted(start.rows, "row").c_str(),
               base::counted(start.jobs, "different text").c_str(), start.queued);
  std::fprintf(stderr, "membound: limits in force: %s\n", start.limits.c_str());
}

void print_audit_start(const queue::AuditStart& start) {
  for (const std::string& note : start.notes) std::fprintf(stderr, "membound: %s\n", note.c_str());
  if (start.stages == 0) {
    std::fputs("membound: nothing is left to audit\n", stderr);
    return;
  }
  std::fprintf(stderr, "membound: auditing %s, %d at once: about %s\n",
               base::counted(start.stages, "stage").c_str(), start.workers,
               long_time(start.seconds).c_str());
}

/// "an audit of 41 stages would take about 3 min: membound grade … --audit".
std::string audit_advice(const queue::AuditStart& left, bool asked) {
  const std::string stages =
      std::to_string(left.stages) + (left.stages == 1 ? " stage" : " stages");
  const std::string call = call_to_repeat();
  return (asked ? "not audited yet: " + stages + ", about "
                : "an audit of " + stages + " would take about ") +
         long_time(left.seconds) + ": " + call +
         (call.find(" --audit") == std::string::npos ? " --audit" : "");
}

/// Work whose author the roster does not tell, all of it: a zero may be written for each of them.
void print_unmatched(const std::vector<course::Grade>& grades, const Context& context) {
  std::size_t count = 0;
  for (const course::Grade& grade : grades) {
    if (grade.unmatched.empty()) continue;
    ++count;
    std::printf("%s %s, %s: %s\n", context.out.sign(report::Tone::kWarning).c_str(),
                shown_student(grade).c_str(), grade.lab.c_str(), grade.unmatched.c_str());
  }
  if (count > 0)
    std::printf(
        "%zu %s matched with nobody of the roster: a table that the platform gave out tells who is "
        "who (--sheet FILE --resume); nothing is exported before\n",
        count, count == 1 ? "submission is" : "submissions are");
}

/// Verdicts and what a person should look at.
void print_summary(const queue::BatchSummary& summary, const GradeOptions& options,
                   const Context& context) {
  std::map<course::GradeVerdict, int> counts;
  int missing = 0;
  for (const course::Grade& grade : summary.grades.grades)
    if (grade.verdict)
      ++counts[*grade.verdict];
    else
      ++missing;
  std::string text;
  for (const auto& [verdict, count] : counts)
    text += report::padded(course::to_string(verdict), 15) + std::to_string(count) + "\n";
  if (missing > 0) text += report::padded("(nothing)", 15) + std::to_string(missing) + "\n";
  if (!summary.grades.open.empty())
    text += report::padded("(not graded)", 15) + std::to_string(summary.grades.open.size()) + "\n";
  std::fputs(text.c_str(), stdout);
  const auto list = [&](const char* what, const auto& wanted) {
    constexpr std::size_t kShown = 20;
    std::size_t shown = 0;
    for (const course::Grade& grade : summary.grades.grades) {
      if (!wanted(grade) || ++shown > kShown) continue;
      std::printf("%s %s, %s: %s; %s\n", context.out.sign(report::Tone::kWarning).c_str(),
                  grade.student.c_str(), grade.lab.c_str(),
                  std::string(course::to_string(*grade.verdict)).c_str(), grade.note.c_str());
    }
    if (shown > kShown) std::printf("and %zu more %s\n", shown - kShown, what);
  };
  list("withheld scores", [](const course::Grade& grade) { return grade.undecided(); });
  list("to look at", [](const course::Grade& grade) {
    return grade.verdict && !grade.undecided() &&
           grade.note.find(queue::kLook) != std::string::npos;
  });
  print_unmatched(summary.grades.grades, context);
  std::printf("%s/grades.csv has a row for each student and lab\n", options.out.c_str());
}

int exit_code_of(const queue::BatchSummary& summary) {
  if (summary.stopped) return kExitInterrupted;
  for (const course::Grade& grade : summary.grades.grades)
    if (grade.undecided() && grade.verdict == course::GradeVerdict::kInfraError)
      return kExitOurFault;
  return kExitPassed;
}

int verify(const GradeOptions& options) {
  const auto found = ledger::verify(options.out, options.key);
  if (!found) return report_error(found.error());
  for (const std::string& problem : found->problems) std::printf("%s\n", problem.c_str());
  const std::string audits =
      found->audits > 0 ? base::counted(found->audits, "audit") + ", " : std::string();
  std::printf("%s, %s%s by hand, %s: %s\n", base::counted(found->verdicts, "verdict").c_str(),
              audits.c_str(), base::counted(found->marks, "mark").c_str(),
              base::counted(found->plans, "plan").c_str(),
              found->problems.empty() ? "all signed, in order and unchanged"
                                      : base::counted(found->problems.size(), "problem").c_str());
  return found->problems.empty() ? kExitPassed : kExitNotPassed;
}

base::Result<queue::ChunkOutcome> run_chunk(const GradeOptions& options) {
  const auto context = make_context();
  if (!context) return context.error();
  auto settings = grading_settings(*context, options, options.trust);
  if (!settings) return settings.error();
  settings->device_seconds = options.device_seconds;
  queue::ChunkRequest request;
  request.out = options.out;
  request.key_file = options.key;
  request.settings = *settings;
  request.number = options.task;
  request.stop = catch_interrupts();
  return queue::run_chunk(request);
}

/// A task of a job array. The waiting call learns from its heartbeat why it could grade nothing.
int run_task(const GradeOptions& options) {
  const char* const job = std::getenv("SLURM_ARRAY_JOB_ID");
  queue::Heartbeat heartbeat(
      queue::beat_file(options.out, job == nullptr ? "" : job, options.task));
  const auto outcome = run_chunk(options);
  if (!outcome) {
    heartbeat.end(base::to_string(outcome.error()));
    return report_error(outcome.error());
  }
  heartbeat.end(outcome->graded + outcome->found == 0 ? outcome->reason : "");
  std::printf("chunk %d: %d graded, %d found, %d failed by our own fault\n", options.task,
              outcome->graded, outcome->found, outcome->failed);
  return outcome->failed > 0 ? kExitOurFault : kExitPassed;
}

base::Status check_dry_run(const GradeOptions& options) {
  if (options.update && !options.submissions.empty())
    return wrong_use("--update", "beside SUBMISSIONS",
                     "--resume: what is given is graded anew anyway", "leave one of both out");
  if (options.dry_run && (options.executor == "slurm" || !options.spot_check.empty()))
    return wrong_use("--dry-run", "beside --executor slurm or --spot-check",
                     "a call that this machine can do by itself", "leave the other option out");
  return base::Done{};
}

/// What would change, and the call that does it.
int print_rehearsal(const queue::Rehearsal& rehearsal, const GradeOptions& options) {
  constexpr std::size_t kShown = 50;
  const std::filesystem::path file = std::filesystem::path(options.out) / "dry-run.csv";
  std::size_t marks = 0;
  for (const queue::Change& one : rehearsal.changes) {
    if (one.lab.empty() || ++marks > kShown) continue;
    std::printf("%s, %s: %s, would be %s; %s\n", one.student.c_str(), one.lab.c_str(),
                one.before.empty() ? "nothing" : one.before.c_str(), one.after.c_str(),
                one.why.c_str());
  }
  const auto written = base::write_file(file, queue::changes_csv(rehearsal.changes));
  if (!written) return report_error(written.error());
  std::printf("%s and %s would change: %s; nothing was changed\n",
              base::counted(marks, "mark").c_str(),
              base::counted(rehearsal.changes.size() - marks, "total").c_str(), file.c_str());
  if (rehearsal.stopped) {
    report_note("stopped: the list is not whole");
    return kExitInterrupted;
  }
  if (options.submissions.empty() && marks > 0)
    report_note("to change them: the same call with --update instead of --dry-run");
  return kExitPassed;
}

int run_grade(const GradeOptions& options) {
  if (options.verify) return verify(options);
  if (options.task >= 0) return run_task(options);
  if (options.submissions.empty() && !options.resume && options.regrade.empty() &&
      options.requests.empty()) {
    return report_error(wrong_use("SUBMISSIONS", "is missing",
                                  "a folder or archive with what was handed in",
                                  "--resume goes on with what --out knows already"));
  }
  const auto context = make_context();
  if (!context) return report_error(context.error());
  judge::CheckOptions device = options;
  if (options.submissions.empty())
    if (const auto plan = queue::read_plan(options.out); plan && *plan)
      device = as_before(options, (*plan)->device, (*plan)->compiler);
  device.gpu_is_elsewhere = options.executor == "slurm";
  auto settings = grading_settings(*context, device, options.trust);
  if (!settings) return report_error(settings.error());
  settings->device_seconds = options.device_seconds;
  if (const auto usable = check_dry_run(options); !usable) return report_error(usable.error());
  if (options.audit && !settings->device.kind->predicts_times())
    return report_error(wrong_use("--audit", "runs whole what a virtual GPU predicted from samples",
                                  "a class that is graded on a virtual GPU",
                                  "leave it out: on a GPU every timed run is whole and compared"));
  const auto spot_check =
      read_spot_check(options.spot_check, options, options.trust, *settings, *context);
  if (!spot_check) return report_error(spot_check.error());
  queue::SlurmSettings slurm;
  if (options.executor == "slurm") {
    auto read = slurm_settings(options.cluster, {options.out, options.key, options.trust},
                               *settings, *context);
    if (!read) return report_error(read.error());
    slurm = *std::move(read);
  } else if (options.cluster.any()) {
    return report_error(wrong_use("--cluster, --slurm-option, --chunk, --at-once, --minutes",
                                  "say how a cluster grades, and this machine is to grade",
                                  "--executor slurm beside them", "add it, or leave them out"));
  }
  queue::BatchRequest request;
  request.out = options.out;
  request.settings = *settings;
  if (options.executor == "slurm")
    request.executor = [&](const queue::Work& work, const std::vector<const queue::Job*>& queue) {
      return queue::run_slurm(work, queue, std::filesystem::absolute(options.out), slurm);
    };
  request.ledger = {options.key, options.quarantine_after};
  request.detail = queue::Detail::kSummary;
  if (options.has_seed) request.seed = options.seed;
  request.only = options.only;
  request.regrade = options.regrade;
  request.retry_failed = options.resume;
  request.update = options.update;
  request.audit = options.audit;
  request.workers = workers_for(options);
  request.stop = catch_interrupts();
  const auto read = read_intake(options, *context, request);
  if (!read) return report_error(read.error());
  if (!options.requests.empty()) {
    const auto text = base::read_file(options.requests);
    if (!text) return report_error(text.error());
    auto requests = queue::read_requests(*text, options.requests, context->course.labs);
    if (!requests) return report_error(requests.error());
    request.requests = *std::move(requests);
  }
  const auto rules = read_rules(options, *context, request);
  if (!rules) return report_error(rules.error());

  std::unique_ptr<GradeProgress> progress;
  request.on_start = [&](const queue::BatchStart& start) {
    print_start(start);
    progress = std::make_unique<GradeProgress>("graded", start.queued, context->err,
                                               context->err_is_terminal);
  };
  request.on_audit = [&](const queue::AuditStart& start) {
    progress.reset();
    print_audit_start(start);
    progress = std::make_unique<GradeProgress>("audited", start.stages, context->err,
                                               context->err_is_terminal);
  };
  request.watcher.now = [&](int worker, const queue::Job& job, const std::string& doing) {
    progress->now(worker, job, doing);
  };
  request.watcher.done = [&](const queue::Job& job, const course::Grade& grade) {
    progress->done(job, grade);
  };
  if (options.dry_run) {
    const auto rehearsal = queue::rehearse_batch(request);
    progress.reset();
    return rehearsal ? print_rehearsal(*rehearsal, options) : report_error(rehearsal.error());
  }
  const auto summary = queue::run_batch(request);
  progress.reset();
  if (!summary) return report_error(summary.error());
  print_summary(*summary, options, *context);
  if (!summary->stopped && summary->not_audited.stages > 0)
    std::fprintf(stderr, "membound: %s\n",
                 audit_advice(summary->not_audited, options.audit).c_str());
  if (summary->stopped) {
    report_note("stopped; what is graded is kept. To go on: " + call_to_repeat());
  }
  const int code = exit_code_of(*summary);
  if (summary->stopped || !*spot_check) return code;
  return std::max(code, run_spot_check(**spot_check, {options.out, options.key}, *context));
}

}  // namespace

base::Result<queue::Settings> grading_settings(const Context& context,
                                               const judge::CheckOptions& options,
                                               bool trust_submissions) {
  const auto tools = chosen_tools(context.place, options);
  if (!tools) return tools.error();
  queue::Settings settings;
  settings.place = context.place;
  settings.course = &context.course;
  settings.compiler = tools->compiler;
  settings.architecture = judge::architecture_for(tools->device, tools->compiler.kind);
  settings.device = tools->device;
  settings.devices = tools->all_devices;
  settings.seconds_per_stage = tools->device.kind->graded_seconds_per_stage();
  settings.version = judge::kVersion;
  settings.trust_submissions = trust_submissions;
  return settings;
}

judge::CheckOptions as_before(judge::CheckOptions options, const std::string& device,
                              const std::string& compiler) {
  if (options.device.empty()) options.device = device;
  // "clang 14.0.6": the version is the digests' business.
  if (options.compiler.empty()) options.compiler = compiler.substr(0, compiler.find(' '));
  return options;
}

void add_grade(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<GradeOptions>();
  CLI::App* const command = app.add_subcommand("grade", "");
  command->add_option("SUBMISSIONS", options->submissions);
  command->add_option("--out", options->out)->required();
  command->add_option("--lab", options->lab);
  command->add_option("--roster", options->roster);
  takes_one_of(*command->add_option("--layout", options->layout),
               {"plain", "canvas", "moodle", "gradescope", "github"});
  command->add_option("--course", options->course);
  command->add_option("--extensions", options->extensions);
  command->add_option("--times", options->times);
  command->add_option("--sheet", options->sheets);
  command->add_option("--due", options->due);
  takes_number(*command->add_option("--late-percent-per-day", options->late_percent), 0, 100);
  takes_whole(*command->add_option("--grace-minutes", options->grace_minutes), 0, kMostMinutes);
  takes_one_of(*command->add_option("--attempt", options->attempt), {"latest", "best"});
  takes_whole(*command->add_option("--jobs", options->jobs), 1, 1024);
  command->add_option("--only", options->only);
  command->add_option("--regrade", options->regrade);
  command->add_option("--regrade-requests", options->requests);
  command->add_flag("--resume", options->resume);
  command->add_flag("--update", options->update);
  command->add_flag("--dry-run", options->dry_run);
  takes_whole(*command->add_option("--device-seconds", options->device_seconds), 0, 86400);
  command->add_flag("--trust-submissions", options->trust);
  command->add_flag("--verify", options->verify);
  command->add_flag("--audit", options->audit);
  command->add_option("--key", options->key);
  takes_whole(*command->add_option("--quarantine-after", options->quarantine_after), 1, 1 << 30);
  command->add_option("--spot-check", options->spot_check);
  takes_one_of(*command->add_option("--executor", options->executor), {"local", "slurm"});
  command->add_option("--cluster", options->cluster.file);
  command->add_option("--slurm-option", options->cluster.options);
  takes_whole(*command->add_option("--chunk", options->cluster.chunk), 1, 1000);
  takes_whole(*command->add_option("--at-once", options->cluster.at_once), 1, 10000);
  takes_whole(*command->add_option("--minutes", options->cluster.minutes), 1, 10000);
  takes_whole(*command->add_option("--task", options->task)->group(""), 0, 1 << 20);
  add_check_options(*command, *options);
  command->callback([options, command, &chosen] {
    options->has_seed = command->count("--seed") > 0;
    chosen = [options] { return run_grade(*options); };
  });
}

}  // namespace membound::cli
