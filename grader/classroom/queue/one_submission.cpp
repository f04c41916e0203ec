// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/one_submission.hpp"

#include <algorithm>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/queue/audit_run.hpp"
#include "grader/classroom/queue/device_health.hpp"
#include "grader/classroom/queue/job_check.hpp"
#include "grader/classroom/similarity/similarity.hpp"
#include "grader/judge/class_reference_times.hpp"

namespace membound::queue {
namespace {

namespace fs = std::filesystem;

using course::Grade;
using course::GradeVerdict;

/// Held by who makes a lab's times.
std::mutex& times_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Where the reference's times lie, on a virtual GPU, which predicts the same ones for every
/// submission; empty where each is timed beside it.
fs::path times_file(const OneRequest& request, const judge::CheckRequest& check) {
  if (!check.split || !request.settings->device.kind->predicts_times()) return {};
  const course::GradeDigests& digests = request.planned->digests;
  const std::string name =
      base::sha256(request.lab->id + " " + digests.harness + " " + digests.toolchain + " " +
                   digests.lab + " " + digests.limits + " " + request.settings->device.name);
  return check.place.state / "reference" / (name + (request.is_replay ? ".replay" : "") + ".json");
}

/// Makes the times where nobody does or has, while this submission and others are compiled. What
/// fails here is told by known_times().
std::jthread make_times_early(const OneRequest& request, const judge::CheckRequest& check) {
  const fs::path file = times_file(request, check);
  const fs::path reference =
      judge::built_reference(check.place, request.lab->id, check.compiler.kind);
  std::error_code ignored;
  if (file.empty() || request.is_replay || fs::exists(file, ignored) ||
      !fs::exists(reference, ignored))
    return {};
  return std::jthread([=] {
    const std::unique_lock lock(times_mutex(), std::try_to_lock);
    if (lock) static_cast<void>(judge::time_reference(check, reference, file));
  });
}

/// The times, or nothing where each submission is timed beside the reference. One worker makes
/// them, for all of them and those who come later.
base::Result<std::optional<judge::ReferenceTimes>> known_times(const OneRequest& request,
                                                               const judge::CheckRequest& check,
                                                               const fs::path& reference) {
  const fs::path file = times_file(request, check);
  if (file.empty()) return std::optional<judge::ReferenceTimes>();
  const std::lock_guard lock(times_mutex());
  std::error_code ignored;
  if (request.is_replay) fs::remove(file, ignored);
  auto times = judge::time_reference(check, reference, file);
  if (!times) return times.error();
  if (!times->unusable.empty()) return std::optional<judge::ReferenceTimes>();
  return std::optional<judge::ReferenceTimes>(*std::move(times));
}

/// Gives the device back on every way out.
class DeviceInUse {
 public:
  explicit DeviceInUse(const OneRequest& request)
      : request_(request),
        device_(request.take_device ? request.take_device() : request.settings->device) {}
  ~DeviceInUse() {
    if (request_.free_device) request_.free_device(device_);
  }
  DeviceInUse(const DeviceInUse&) = delete;
  DeviceInUse& operator=(const DeviceInUse&) = delete;
  [[nodiscard]] const judge::Device& get() const { return device_; }

 private:
  const OneRequest& request_;
  const judge::Device& device_;
};

/// Measures on a device that nobody else uses meanwhile.
base::Result<judge::Measured> measure(const OneRequest& request, judge::CheckRequest& check,
                                      const judge::CompiledSubmission& code, OneOutcome& outcome) {
  if (request.on_step) request.on_step("waiting for the device");
  const DeviceInUse device(request);
  if (const auto chosen = judge::use_device(device.get(), check); !chosen) return chosen.error();
  if (check.split && request.reference_runner)
    check.split->reference_runner = request.reference_runner(device.get());
  auto measured = judge::measure(check, code);
  if (check.split) check.split->reference_runner = nullptr;  // others' from here on
  if (device.get().kind->can_be_hurt() && !request.stopped() &&
      (!measured || measured->may_have_hurt()))
    if (const auto works = probe_device(*request.settings, device.get()); !works)
      outcome.device_lost = works.error();
  return measured;
}

/// The line with the compiler's first error.
std::string first_error(std::string_view output) {
  const std::size_t at = output.find(" error");
  if (at == std::string_view::npos) return "";
  const std::size_t begin = output.rfind('\n', at) + 1;  // 0 where there is none
  return std::string(output.substr(begin, output.find('\n', at) - begin));
}

}  // namespace

std::string looks(const Grade& grade) {
  std::string text;
  for (const course::StageResult& stage : grade.result.stages)
    for (const course::Finding& finding : stage.findings)
      if (stage.passed() &&
          (finding.kind == course::kBeyondReference || finding.kind == course::kMostlyIdleSms))
        text += (text.empty() ? "" : "; ") + std::string(kLook) + std::to_string(stage.stage) +
                ": " + base::printable(finding.text);
  return text;
}

std::string reason(const Grade& grade) {
  for (const course::StageResult& stage : grade.result.stages) {
    const course::VerdictRow& row = course::row_of(stage.verdict);
    // Refused code, and a compiler at its limits, are verdicts of the grade alone.
    const bool compiled = stage.verdict != course::Verdict::kCompileError;
    if (stage.passed() || (compiled && row.grade != grade.verdict)) continue;
    if (grade.verdict == GradeVerdict::kCompileError)
      if (const std::string error = first_error(grade.result.compiler_output); !error.empty())
        return base::printable(error);
    std::string text(row.words);
    if (!stage.findings.empty() && !stage.findings.front().text.empty()) {
      const course::Finding& first = stage.findings.front();
      text = (first.line > 0 ? "line " + std::to_string(first.line) + ": " : "") + first.text;
    }
    text.erase(text.find_last_not_of('\n') + 1);
    text = stage.verdict == course::Verdict::kInfraError ? text.substr(text.rfind('\n') + 1)
                                                         : text.substr(0, text.find('\n'));
    return "stage " + std::to_string(stage.stage) + ": " + base::printable(text);
  }
  return "";
}

OneOutcome grade_one(const OneRequest& request) {
  if (request.job->audited_stage > 0) return audit_one(request);
  OneOutcome outcome;
  Grade& grade = outcome.grade;
  grade.lab = request.lab->id;
  grade.submission_sha256 = request.job->submission_sha256;
  grade.seed = request.job->seed;
  grade.seed_key = request.job->seed_key;
  grade.sample_seed = request.planned->sample_seed;
  grade.digests = request.planned->digests;
  grade.limits_in_force = request.limits;
  grade.result.lab = request.lab->id;
  grade.device = request.settings->device.name;
  const auto our_fault = [&](const std::string& why) {
    grade.end(GradeVerdict::kInfraError, why, *request.lab);
    grade.graded_at = now_text();
    outcome.stopped = request.stopped();
    return outcome;
  };

  const auto text = base::read_file(request.source);
  if (!text || base::sha256(*text) != request.job->submission_sha256)
    return our_fault("the store no longer holds what was handed in");
  auto asked = check_of(request);
  if (!asked) return our_fault(base::to_string(asked.error()));
  judge::CheckRequest& check = *asked;
  const std::jthread times = make_times_early(request, check);
  if (request.on_step) request.on_step("compiling");
  const auto code = judge::compile_submission(check);
  if (!code) return our_fault(base::to_string(code.error()));
  if (base::failpoint("job.compiled")) return our_fault("No space left on device");

  // Without one the submission is like no other; that is no reason not to grade it.
  if (code->any_compiled())
    if (auto fingerprint = similarity::fingerprint_of_code(code->file()))
      grade.fingerprint = *std::move(fingerprint);

  if (const judge::CompiledPart* const timed = code->with_reference()) {
    if (request.on_step) request.on_step("timing the reference");
    const auto known = known_times(request, check, timed->reference);
    if (!known) return our_fault(base::to_string(known.error()));
    if (*known) {
      check.split->reference_times = (*known)->file;
      grade.reference_sha256 = (*known)->sha256;
    }
  }

  // The device is another submission's from here on: checkers look on the virtual GPU.
  auto measured =
      code->any_compiled() ? measure(request, check, *code, outcome) : judge::measure(check, *code);
  if (!measured) return our_fault(base::to_string(measured.error()));
  base::Result<course::Result> result = judge::judge_measured(check, *code, *std::move(measured));
  if (!result) return our_fault(base::to_string(result.error()));
  outcome.stopped = request.stopped();
  if (outcome.stopped) return outcome;
  // The file lies in the batch's store; where that is says nothing about the submission.
  result->submission = "kernel.cu";
  result->created_at = now_text();
  grade.take(std::move(*result), *request.lab);
  if (const judge::CompiledCode& problem = code->first_problem(); !problem.compiled)
    grade.verdict = judge::grade_verdict_of(problem);
  if (grade.device.empty()) grade.device = request.settings->device.name;
  grade.graded_at = now_text();
  grade.note = reason(grade);
  if (const std::string look = looks(grade); !look.empty())
    grade.note += (grade.note.empty() ? "" : "; ") + look;
  return outcome;
}

}  // namespace membound::queue
