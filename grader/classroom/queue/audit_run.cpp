// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/audit_run.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/files.hpp"
#include "grader/classroom/queue/job_check.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/verdict.hpp"

namespace membound::queue {
namespace {

using course::Cause;
using course::Grade;
using course::GradeVerdict;
using course::StageMeasurement;
using course::Verdict;
using course::WholeRun;

/// What the test program does: its first timed size, all blocks, no time.
constexpr const char* kWhole = "--whole";
/// The test program itself gives a timed case up after two minutes (harness/measure/whole_run).
constexpr double kLongestSeconds = 600;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// "Run whole at 268435456 ints: …".
std::string told(const WholeRun& run, const std::string& what) {
  return "Run whole at " + run.label + ": " + what;
}

/// What a measurement says of the stage: right where every timed case ran to its end and nothing
/// was found.
course::AuditedStage audited(const StageMeasurement& measurement) {
  course::AuditedStage stage{measurement.stage, Verdict::kPassed, "", measurement.seconds};
  for (const WholeRun& run : measurement.whole_runs)
    if (run.is_wrong()) {
      stage.verdict = Verdict::kWrong;
      stage.note = told(run, run.found);
      return stage;
    }
  if (measurement.abort != Cause::kNone) {
    stage.verdict = course::verdict_of(measurement.abort);
    stage.note = first_line(measurement.abort_text);
    return stage;
  }
  if (measurement.whole_runs.empty()) return {stage.stage, Verdict::kSkipped, "nothing ran", 0};
  for (const WholeRun& run : measurement.whole_runs) {
    if (!run.complete) {
      stage.verdict = Verdict::kSkipped;
      stage.note = told(run, run.why_not);
      return stage;
    }
    if (!run.is_first_size) stage.note = told(run, "right; the first timed size takes longer");
  }
  return stage;
}

/// The stage as the judge sees it, with what the audit found.
course::StageResult result_of(const OneRequest& request, const StageMeasurement& measurement,
                              const course::AuditedStage& audit) {
  course::StageResult result =
      judge::judge_stage(*request.lab, *request.lab->stage(audit.stage), measurement);
  result.verdict = audit.verdict;
  result.correct = audit.right();
  if (audit.verdict == Verdict::kWrong)
    result.findings = {{"whole-run", audit.note, "", "", "", 0}};
  return result;
}

}  // namespace

OneOutcome audit_one(const OneRequest& request) {
  OneOutcome outcome;
  Grade& grade = outcome.grade;
  const int number = request.job->audited_stage;
  grade.lab = grade.result.lab = request.lab->id;
  grade.submission_sha256 = request.job->submission_sha256;
  grade.seed_key = request.job->seed_key;
  grade.digests = request.planned->digests;
  grade.limits_in_force = request.limits;
  grade.device = request.settings->device.name;
  const auto our_fault = [&](const std::string& why) {
    grade.end(GradeVerdict::kInfraError, why, *request.lab);
    grade.seed = request.job->seed;
    grade.graded_at = now_text();
    grade.audit = course::Audit{1, {{number, Verdict::kInfraError, first_line(why), 0}}};
    outcome.stopped = request.stopped();
    return outcome;
  };

  const auto text = base::read_file(request.source);
  if (!text || base::sha256(*text) != request.job->submission_sha256)
    return our_fault("the store no longer holds what was handed in");
  auto check = check_of(request);
  if (!check) return our_fault(base::to_string(check.error()));
  check->stages = {number};
  check->more_arguments.emplace_back(kWhole);
  check->looks = {};
  check->seconds_per_stage = kLongestSeconds;
  check->device_seconds = 0;
  if (check->split) {
    check->split->device_seconds = 0;
    check->split->limits.cpu_seconds = check->split->limits.wall_seconds = kLongestSeconds;
    check->split->limits.memory_bytes = kAuditBytes;
  }
  if (request.on_step) request.on_step("compiling");
  const auto code = judge::compile_submission(*check);
  if (!code) return our_fault(base::to_string(code.error()));
  if (request.on_step) request.on_step("stage " + std::to_string(number) + " whole");
  auto measured = judge::measure(*check, *code);
  if (!measured) return our_fault(base::to_string(measured.error()));
  outcome.stopped = request.stopped();
  if (outcome.stopped) return outcome;
  const StageMeasurement* found = nullptr;
  for (const auto& part : measured->parts)
    if (part && !part->empty()) found = &part->front();
  if (found == nullptr) return our_fault("the test program did not run the stage");
  const course::AuditedStage stage = audited(*found);
  if (stage.verdict == Verdict::kInfraError) return our_fault(found->abort_text);

  course::Result result;
  result.lab = request.lab->id;
  result.title = request.lab->title;
  result.submission = "kernel.cu";
  result.submission_sha256 = request.job->submission_sha256;
  result.compiler = check->compiler.name();
  result.created_at = now_text();
  result.seed = request.job->seed;
  result.device = found->device;
  result.seconds = measured->seconds;
  result.stages.push_back(result_of(request, *found, stage));
  grade.take(std::move(result), *request.lab);
  if (stage.verdict == Verdict::kSkipped) grade.verdict.reset();  // nothing is known
  grade.device = request.settings->device.name;
  grade.audit = course::Audit{1, {stage}};
  grade.note = stage.note;
  grade.graded_at = now_text();
  return outcome;
}

}  // namespace membound::queue
