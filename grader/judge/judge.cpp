// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/judge.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>

#include "grader/base/failpoint.hpp"
#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/processor.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/checker_rerun.hpp"
#include "grader/judge/findings.hpp"
#include "grader/judge/profiling_runs.hpp"
#include "grader/judge/sandboxed_run.hpp"
#include "grader/judge/stage_runs.hpp"
#include "grader/judge/verdict.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

/// A result that holds everything but stages.
course::Result empty_result(const CheckRequest& request, const CompiledSubmission& code) {
  course::Result result;
  result.lab = request.lab->id;
  result.title = request.lab->title;
  result.membound_version = request.version;
  result.created_at = utc_now();
  const fs::path relative = request.submission.lexically_relative(request.place.root);
  result.submission =
      (relative.empty() || *relative.begin() == ".." ? request.submission : relative)
          .generic_string();
  result.submission_sha256 = code.parts.front().submission.sha256;
  result.compiler = request.compiler.name();
  result.compiler_output = code.first_problem().output;
  for (const CompiledPart& part : code.parts)
    if (result.compiler_output.empty()) result.compiler_output = part.submission.output;
  result.seed = request.seed;
  return result;
}

/// Whether a whole program finds on a GPU the libcudart.so.13 that it is linked with: it calls more
/// of the runtime than ours for GPUs has, and meets that of its compiler's toolkit.
bool has_runtime_for_programs(const compilers::CompilerInfo& compiler) {
  return compiler.kind == compilers::DeviceCompiler::kNvcc &&
         std::atoi(compiler.version.c_str()) >= 13;
}

BuildRequest build_request(const CheckRequest& request) {
  BuildRequest build;
  build.place = request.place;
  build.lab = request.lab;
  build.stages = request.stages;
  build.submission = request.submission;
  build.compiler = request.compiler;
  build.architecture = request.architecture;
  build.target = request.device.target;
  build.stop = request.stop;
  build.graded = request.graded;
  // Never those of a graded run, which share a process with the clock.
  build.times_programs = request.times_programs && !request.sandbox && !request.graded &&
                         request.device.kind->times_programs() &&
                         has_runtime_for_programs(request.compiler);
  return build;
}

void judge_all(const CheckRequest& request, const Device& device,
               std::vector<course::StageMeasurement>& measurements, course::Result& result) {
  const auto text = course::read_submission(request.submission, *request.lab);
  const compilers::StudentSource source(text ? *text : "");
  for (course::StageMeasurement& measurement : measurements) {
    // The name by which a student asks for it again.
    measurement.device.virtual_name = device.kind->virtual_name(device.name);
    const course::Stage& stage = *request.lab->stage(measurement.stage);
    result.stages.push_back(judge_stage(*request.lab, stage, measurement));
    // A graded result tells nothing of where the submission lies.
    hold_against_source(
        source, (request.graded ? request.submission.filename() : request.submission).string(),
        stage, result.stages.back());
    hold_answers(*request.lab, stage, text ? *text : "", result.stages.back());
    if (result.device.name.empty()) result.device = measurement.device;
  }
}

/// How stages of a part are run.
base::Result<RunRequest> run_request(const CheckRequest& request, const CompiledPart& part,
                                     const Device& device) {
  RunRequest run;
  run.program = test_program(request.place, *request.lab, *part.kind);
  auto oracle = make_oracle(request.place, *request.lab);
  if (!oracle) return oracle.error();
  run.oracle = *std::move(oracle);
  run.lab_json = lab_files(request.place, *request.lab) / "lab.json";
  run.submission = part.submission.file;
  run.source = request.submission;
  run.preload = part.preload;
  run.backend = &backend_of(*part.kind);
  run.parts = run.backend->parts(request.place, part.reference);
  run.lab = request.lab;
  run.stages = part.stages;
  run.seed = request.seed;
  run.stages_at_once = request.stages_at_once;
  run.sandbox = request.sandbox;
  if (part.kind->has_reference) run.more_arguments = request.more_arguments;
  run.environment = device.environment;
  run.seconds_per_stage = request.seconds_per_stage;
  run.scratch_folder = request.place.state / "tmp";
  run.stop = request.stop;
  run.on_tick = request.on_tick;
  return run;
}

/// How its stages are run again: where `run` ran them if checkers are there, else on the virtual
/// GPU beside it, as a graded run if that was one.
base::Result<RunRequest> rerun_request(const CheckRequest& request, const CompiledPart& part,
                                       const RunRequest& run) {
  RunRequest rerun = run;
  if (!request.device.kind->has_checkers()) {
    CheckRequest beside = request;
    beside.device = virtual_gpu(kDefaultModel, request.place.build);
    beside.more_arguments = beside.device.kind->test_arguments();
    if (request.sandbox) {
      auto sandbox = sandbox_options(beside);
      if (!sandbox) return sandbox.error();
      sandbox->seed_key = request.sandbox->seed_key;
      sandbox->use_jail = request.sandbox->use_jail;
      beside.sandbox = *std::move(sandbox);
    }
    auto other = run_request(beside, part, beside.device);
    if (!other) return other.error();
    rerun = *std::move(other);
  }
  rerun.on_tick = request.on_checker_rerun;
  return rerun;
}

/// Runs the stages of a part where they belong; adds to `stopped` and `seconds`.
base::Result<std::vector<course::StageMeasurement>> run_part(const CheckRequest& request,
                                                             const CompiledPart& part,
                                                             const Device& device,
                                                             Measured& measured) {
  auto asked = run_request(request, part, device);
  if (!asked) return asked.error();
  RunRequest run = *std::move(asked);
  if (request.reruns.at_right_results && run.backend->checks_at_once() &&
      !base::switched_off("judge.checker-rerun"))
    run.checked_with = environment_at_right_results();
  auto needed = run.backend->needed(run.parts);
  needed.insert(needed.begin(), run.program);
  for (const fs::path& file : needed)
    if (std::error_code ignored; !fs::exists(file, ignored)) return not_built(file);
  const auto start = std::chrono::steady_clock::now();
  std::unique_ptr<EarlyRerun> early = EarlyRerun::begin(run, request.reruns, *request.device.kind);
  auto outcome = run_stages(run);
  if (!outcome) return outcome.error();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  measured.seconds += taken.count();
  measured.stopped = measured.stopped || outcome->stopped;
  if (early && !measured.stopped &&
      may_be_right_by_luck(*request.lab, outcome->measurements.front()))
    measured.early = std::move(early);
  return std::move(outcome->measurements);
}

/// Adds the times on the request's own device to measurements that were made on the virtual one.
base::Status add_times(const CheckRequest& request, const CompiledPart& part,
                       std::vector<course::StageMeasurement>& measurements) {
  auto asked = run_request(request, part, request.device);
  if (!asked) return asked.error();
  RunRequest run = *std::move(asked);
  // A program calls all of the runtime: it meets that of the toolkit that compiled it.
  std::error_code ignored;
  const fs::path toolkit = fs::weakly_canonical(request.compiler.program, ignored) / "../..";
  std::vector<fs::path> folders = {toolkit / "lib64", toolkit / "lib",
                                   toolkit / "targets" / base::kCudaTarget / "lib"};
  if (const char* old = std::getenv("LD_LIBRARY_PATH"); old != nullptr && *old != '\0')
    folders.emplace_back(old);
  run.environment["LD_LIBRARY_PATH"] = base::search_path(folders);
  return time_programs(run, measurements);
}

/// What is run once more after the stages of a part: the times of programs, the tests with checkers
/// on, what explains. `early` is a rerun that runs already, or null; it ends where it is of no use.
base::Status run_again(const CheckRequest& request, const CompiledPart& part, const Device& device,
                       std::vector<course::StageMeasurement>& measurements,
                       std::unique_ptr<EarlyRerun>& early) {
  const BuildRequest build = build_request(request);
  if (build.times_programs && part.kind->needs_timeline)
    if (const auto timed = add_times(request, part, measurements); !timed) return timed.error();
  ProfilingRuns profiling = request.profiling;
  profiling.counters = profiling.counters && !request.device.kind->counts();
  if (!part.kind->has_reference) profiling = {};
  const bool sanitized = !request.sanitizer.empty() && !part.kind->has_host_code;
  if (!request.reruns.any() && !profiling.any() && !sanitized) return base::Done{};
  auto asked = run_request(request, part, device);
  if (!asked) return asked.error();
  RunRequest run = *std::move(asked);
  if (sanitized) add_sanitizer_reports(run, request.sanitizer, measurements);
  const auto rerun = rerun_request(request, part, run);
  if (!rerun) return rerun.error();
  if (request.reruns.any()) {
    RunRequest checked = *rerun;
    auto with_red_zones = compile_with_red_zones(build, *part.kind, measurements);
    if (!with_red_zones) return with_red_zones.error();
    // nvcc's own code has passed, and is rerun too.
    const bool in_place = request.compiler.kind == compilers::DeviceCompiler::kClang;
    if (!with_red_zones->empty())
      (in_place ? checked.submission : checked.with_red_zones) = *std::move(with_red_zones);
    if (early && early->submission() != checked.submission) early.reset();
    rerun_with_checkers(checked, request.reruns, measurements, early.get());
  }
  if (!profiling.any()) return base::Done{};
  const char* const path = std::getenv("PATH");
  add_profiles({std::move(run), *rerun}, profiling, request.sandbox || request.graded,
               find_ncu(path == nullptr ? "" : path, request.compiler), measurements);
  return base::Done{};
}

/// Adds the results of a part's stages.
base::Status judge_part(const CheckRequest& request, const CompiledPart& part,
                        std::optional<std::vector<course::StageMeasurement>>& measurements,
                        Measured& measured, course::Result& result) {
  const auto all_are = [&](course::Verdict verdict, const std::string& reason) {
    for (const int number : part.stages)
      result.stages.push_back(not_run(*request.lab, *request.lab->stage(number), verdict, reason));
    return base::Done{};
  };
  if (!part.submission.compiled)
    return all_are(course::Verdict::kCompileError, compile_reason(part.submission));
  const Device device = device_of(*part.kind, request.device, request.place);
  if (!measurements) {
    auto now = run_part(request, part, device, measured);
    if (!now) return now.error();
    measurements = *std::move(now);
  }
  if (!measured.stopped)
    if (const auto more = run_again(request, part, device, *measurements, measured.early); !more)
      return more.error();
  judge_all(request, device, *measurements, result);
  return base::Done{};
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool Measured::may_have_hurt() const {
  const auto hurts = [](const course::StageMeasurement& stage) {
    return stage.abort != course::Cause::kNone ||
           std::any_of(stage.timings.begin(), stage.timings.end(),
                       [](const course::Timing& timing) { return timing.suspicious; });
  };
  return std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
    return part && std::any_of(part->begin(), part->end(), hurts);
  });
}

base::Result<CompiledSubmission> compile_submission(const CheckRequest& request) {
  return compile_submission(build_request(request));
}

base::Result<Measured> measure(const CheckRequest& request, const CompiledSubmission& code) {
  Measured measured;
  measured.stopped = code.first_problem().stopped;
  measured.parts.resize(code.parts.size());
  for (std::size_t i = 0; i < code.parts.size() && !measured.stopped; ++i) {
    const CompiledPart& part = code.parts[i];
    const Device device = device_of(*part.kind, request.device, request.place);
    if (!part.submission.compiled || device.kind != request.device.kind) continue;
    auto measurements = run_part(request, part, device, measured);
    if (!measurements) return measurements.error();
    measured.parts[i] = *std::move(measurements);
  }
  return measured;
}

base::Result<course::Result> judge_measured(const CheckRequest& request,
                                            const CompiledSubmission& code, Measured measured) {
  const auto start = std::chrono::steady_clock::now();
  const double measuring_seconds = measured.seconds;
  course::Result result = empty_result(request, code);
  for (std::size_t i = 0; i < code.parts.size(); ++i) {
    // After Ctrl-C what was measured before it is still told.
    if (measured.stopped && !measured.parts[i]) continue;
    const auto done = judge_part(request, code.parts[i], measured.parts[i], measured, result);
    if (!done) return done.error();
  }
  std::sort(result.stages.begin(), result.stages.end(),
            [&](const course::StageResult& a, const course::StageResult& b) {
              const auto place = [&](int stage) {
                return std::find(request.stages.begin(), request.stages.end(), stage);
              };
              return place(a.stage) < place(b.stage);
            });
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  result.seconds = measuring_seconds + taken.count();
  for (const CompiledPart& part : code.parts) result.seconds += part.submission.seconds;
  return result;
}

base::Result<course::Result> run_and_judge(const CheckRequest& request,
                                           const CompiledSubmission& code) {
  auto measured = measure(request, code);
  if (!measured) return measured.error();
  return judge_measured(request, code, *std::move(measured));
}

base::Result<course::Result> check(const CheckRequest& request) {
  const auto code = compile_submission(request);
  if (!code) return code.error();
  return run_and_judge(request, *code);
}

}  // namespace membound::judge
