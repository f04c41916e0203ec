// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/queue/one_submission.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <regex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "grader/base/digest.hpp"
#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/similarity/similarity.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/class_reference_times.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/verdict.hpp"

namespace membound::queue {
namespace {

constexpr std::size_t kOutputLimit = 4096;

std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return base::printable(text);
}

/// Which of several it is.
std::string named(const judge::Device& device) {
  return device.name +
         (device.gpu_number < 0 ? "" : " (/dev/nvidia" + std::to_string(device.gpu_number) + ")");
}

/// All stages of the job's lab, in jails unless submissions are trusted. `request` must outlive it.
base::Result<judge::CheckRequest> check_of(const OneRequest& request) {
  const Settings& settings = *request.settings;
  judge::CheckRequest check;
  check.place = settings.place;
  check.lab = request.lab;
  for (const course::Stage& stage : request.lab->stages) check.stages.push_back(stage.number);
  check.submission = request.source;
  check.compiler = settings.compiler;
  check.architecture = settings.architecture;
  check.device = settings.device;
  if (request.at_once > 1 && settings.device.kind->predicts_times())
    check.device.environment["MEMBOUND_WORKERS"] =
        std::to_string(std::max(1, static_cast<int>(base::processors()) / request.at_once));
  check.more_arguments = settings.device.kind->test_arguments();
  check.seed = request.job->seed;
  check.seconds_per_stage = settings.seconds_per_stage;
  check.device_seconds = settings.device_seconds;
  check.version = settings.version;
  check.reruns.at_right_results =
      settings.device.kind->has_checkers() || judge::has_vgpu(settings.place.build);
  check.stop = request.stop;
  if (!settings.trust_submissions || settings.hold_policy)
    check.graded = judge::GradedCompile{.confined = !settings.trust_submissions};
  check.on_tick = [&request](int stage) {
    if (request.on_step) request.on_step("stage " + std::to_string(stage));
  };
  if (request.job->seed_key.empty()) return check;
  auto sandbox = judge::sandbox_options(check);
  if (!sandbox) return sandbox.error();
  sandbox->seed_key = request.job->seed_key;
  if (settings.device.kind->predicts_times()) sandbox->sample_seed = request.planned->sample_seed;
  sandbox->use_jail = !settings.trust_submissions;
  check.sandbox = *std::move(sandbox);
  return check;
}

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

/// One stage of one submission, run whole at its first timed size, for its results alone: in jails
/// like the run that earned its points, with the same seeds.
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
  check->reruns = {};
  check->seconds_per_stage = kLongestSeconds;
  check->device_seconds = 0;
  if (check->sandbox) {
    check->sandbox->device_seconds = 0;
    check->sandbox->limits.cpu_seconds = check->sandbox->limits.wall_seconds = kLongestSeconds;
    check->sandbox->limits.memory_bytes = kAuditBytes;
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

namespace fs = std::filesystem;

/// Held by who makes a lab's times.
std::mutex& times_mutex() {
  static std::mutex mutex;
  return mutex;
}

/// Where the reference's times lie, on a virtual GPU, which predicts the same ones for every
/// submission; empty where each is timed beside it.
fs::path times_file(const OneRequest& request, const judge::CheckRequest& check) {
  if (!check.sandbox || !request.settings->device.kind->predicts_times()) return {};
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
  const fs::path reference = judge::built_reference(check.place, *request.lab, check.compiler.kind);
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
  if (check.sandbox && request.reference_runner)
    check.sandbox->reference_runner = request.reference_runner(device.get());
  auto measured = judge::measure(check, code);
  if (check.sandbox) check.sandbox->reference_runner = nullptr;  // others' from here on
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
  std::string line(output.substr(begin, output.find('\n', at) - begin));
  // What the machine says of a file of its own is nobody's business, and nothing to act on.
  // std::regex recurses over what it matches: a folder's name has 255 bytes at most.
  static const std::regex path("(^|[\\s'\"])/[A-Za-z0-9_.-]{1,255}/");
  const std::size_t said = at - begin + std::string_view(" error").size();
  if (std::regex_search(line.begin() + static_cast<long>(said), line.end(), path))
    line = line.substr(0, said) +
           ": it asks for a file by its path on the machine, and only kernel.cu is handed in";
  return line;
}

}  // namespace

std::string stages_to_look_at(const Grade& grade) {
  std::string text;
  for (const course::StageResult& stage : grade.result.stages)
    for (const course::Finding& finding : stage.findings)
      if (stage.passed() &&
          (finding.kind == course::kBeyondReference || finding.kind == course::kMostlyIdleSms))
        base::add_word(
            text,
            std::string(kLook) + std::to_string(stage.stage) + ": " + base::printable(finding.text),
            "; ");
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
      check.sandbox->reference_times = (*known)->file;
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
  base::add_note(grade.note, stages_to_look_at(grade));
  return outcome;
}

base::Status probe_device(const Settings& settings, const judge::Device& device,
                          const ProbeTries& probe) {
  std::string last;
  for (int i = 0; i < probe.tries; ++i) {
    if (i > 0) std::this_thread::sleep_for(std::chrono::duration<double>(probe.seconds_between));
    const auto run = base::run_process(
        {.arguments = {(settings.place.build / "libexec" / "membound_runner").string(), "--probe",
                       judge::harness_kernels(settings.place).string()},
         .environment = device.environment,
         .timeout_seconds = probe.seconds_per_try,
         .output_limit_bytes = kOutputLimit});
    if (!run) return run.error();
    if (!run->timed_out && run->exit_code == 0) return base::Done{};
    last = run->timed_out
               ? "no answer in " + std::to_string(static_cast<int>(probe.seconds_per_try)) + " s"
               : trimmed(run->output);
  }
  return base::Error{base::ErrorKind::kMachine, named(device),
                     "does not work any more since the last submission: " + last,
                     "a device that runs one small kernel; nobody else is judged on it as it is",
                     "look at nvidia-smi and the machine's log; then membound grade --resume"};
}

}  // namespace membound::queue
