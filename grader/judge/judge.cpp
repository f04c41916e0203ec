// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/judge.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "grader/base/process.hpp"
#include "grader/base/switches.hpp"
#include "grader/device_code/compilers/compile_hints.hpp"
#include "grader/judge/device_choice.hpp"
#include "grader/judge/launch_counting.hpp"
#include "grader/judge/program_times.hpp"
#include "grader/judge/runner_rules.hpp"
#include "grader/judge/second_look.hpp"
#include "grader/judge/test_bed.hpp"
#include "grader/judge/test_program.hpp"
#include "grader/judge/verdict.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

base::Error not_built(const fs::path& file) {
  return {base::ErrorKind::kMachine, file.string(), "is not built",
          "the lab's test program and reference answer, made by the build",
          "start with ./membound, which builds what is missing"};
}

CompileRequest compile_request(const CheckRequest& request, const course::StageKind& kind,
                               const fs::path& source) {
  CompileRequest compile;
  compile.source = source;
  compile.root = request.place.root;
  compile.lab_folder = request.lab->folder;
  compile.compiler = request.compiler;
  compile.architecture = request.architecture;
  compile.cache_folder = request.place.state / "cache";
  compile.stop = request.stop;
  bed_of(kind).prepare(compile, request.place);
  return compile;
}

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

std::string compile_reason(const CompiledCode& code) {
  if (!code.not_text.empty()) return code.not_text;
  if (!code.rejected.empty()) return code.rejected;
  if (code.limit != jail::LimitHit::kNone && !code.timed_out)
    return "The compiler reached a limit and was ended: " + std::string(to_string(code.limit)) +
           ".";
  if (code.timed_out)
    return "The compiler took too long and was ended. Very deep templates or loops unrolled many "
           "times do that.";
  return compilers::compile_hint(code.output);
}

void judge_all(const CheckRequest& request, const Device& device,
               std::vector<course::StageMeasurement>& measurements, course::Result& result) {
  for (course::StageMeasurement& measurement : measurements) {
    // The name by which a student asks for it again.
    measurement.device.virtual_name = device.kind->virtual_name(device.name);
    const course::Stage& stage = *request.lab->stage(measurement.stage);
    result.stages.push_back(judge_stage(*request.lab, stage, measurement));
    if (result.device.name.empty()) result.device = measurement.device;
  }
}

/// Finds the reference answer for a part, compiled by the submission's compiler, or the ratio would
/// compare compilers. The build made one with each compiler that it found.
base::Result<fs::path> find_reference(const CheckRequest& request, const CompiledPart& part) {
  fs::path built = built_reference(request.place, request.lab->id, request.compiler.kind);
  std::error_code ignored;
  if (fs::exists(built, ignored) || !part.submission.compiled) return built;
  const fs::path source = reference_source(request.place, request.lab->id);
  if (!fs::exists(source, ignored)) {
    const std::string name(to_string(request.compiler.kind));
    return base::Error{
        base::ErrorKind::kUsage, "--compiler " + name,
        "this course came without a reference answer compiled by " + name, "",
        "--compiler " + std::string(request.compiler.kind == compilers::DeviceCompiler::kNvcc
                                        ? "clang"
                                        : "nvcc")};
  }
  const auto reference = compile(compile_request(request, *part.kind, source));
  if (!reference) return reference.error();
  if (!reference->compiled && !reference->stopped) {
    return base::Error{
        base::ErrorKind::kInternal, source.string(),
        "does not compile with " + request.compiler.name() + ":\n" + reference->output,
        "a reference answer that compiles", "--compiler nvcc"};
  }
  return reference->file;
}

/// Whether this check times a part's programs on its device: never those of a graded run, which
/// share a process with the clock.
bool times_programs(const CheckRequest& request, const CompiledPart& part) {
  return request.times_programs && !request.split && !request.graded && part.kind->needs_timeline &&
         request.device.kind->times_programs();
}

/// The reference program; empty in a course that came without answers.
base::Result<fs::path> find_reference_program(const CheckRequest& request,
                                              const CompiledPart& part) {
  const fs::path source = reference_source(request.place, request.lab->id);
  if (std::error_code ignored; !fs::exists(source, ignored)) return fs::path();
  const auto reference = compile(compile_request(request, *part.kind, source));
  if (!reference) return reference.error();
  return reference->compiled ? reference->file : fs::path();
}

/// Compiles what the stages of one kind need.
base::Status compile_part(const CheckRequest& request, CompiledPart& part) {
  CompileRequest submission = submission_request(request, *part.kind);
  auto code = compile(submission);
  if (!code) return code.error();
  part.submission = std::move(*code);
  if (times_programs(request, part) && part.submission.compiled) {
    auto reference = find_reference_program(request, part);
    if (!reference) return reference.error();
    part.reference = *std::move(reference);
  }
  if (!part.kind->has_reference) return base::Done{};
  if (base::switched_off("compile.device-only") && part.submission.compiled) {
    // As it is where a submission is compiled whole and linked with its tests.
    submission.runtime = request.place.build / "forward";
    submission.library = true;
    const auto library = compile(submission);
    if (!library) return library.error();
    part.preload = library->file;
  }
  auto reference = find_reference(request, part);
  if (!reference) return reference.error();
  part.reference = *std::move(reference);
  return base::Done{};
}

/// The stages that were asked for, kind by kind.
std::vector<CompiledPart> parts_of(const CheckRequest& request) {
  std::vector<CompiledPart> parts;
  for (const course::StageKind* kind : request.lab->kinds()) {
    CompiledPart part{kind, {}};
    for (const int number : request.stages)
      if (request.lab->stage(number)->kind == kind) part.stages.push_back(number);
    if (!part.stages.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

/// How stages of a part are run.
RunRequest run_request(const CheckRequest& request, const CompiledPart& part,
                       const Device& device) {
  RunRequest run;
  run.program = test_program(request.place, request.lab->id, *part.kind);
  run.lab_json = request.lab->folder / "lab.json";
  run.submission = part.submission.file;
  run.preload = part.preload;
  run.bed = &bed_of(*part.kind);
  run.parts = run.bed->parts(request.place, part.reference);
  run.lab = request.lab;
  run.stages = part.stages;
  run.seed = request.seed;
  run.stages_at_once = request.stages_at_once;
  run.split = request.split;
  if (part.kind->has_reference) run.more_arguments = request.more_arguments;
  run.environment = device.environment;
  run.seconds_per_stage = request.seconds_per_stage;
  run.scratch_folder = request.place.state / "tmp";
  run.stop = request.stop;
  run.on_tick = request.on_tick;
  return run;
}

/// How its stages are looked at again: where `run` ran them if checkers are there, else on the
/// virtual GPU beside it, as a graded run if that was one.
base::Result<RunRequest> looking_run(const CheckRequest& request, const CompiledPart& part,
                                     const RunRequest& run) {
  RunRequest looking = run;
  if (!request.device.kind->has_checkers()) {
    CheckRequest beside = request;
    beside.device = virtual_gpu(kDefaultModel, request.place.build);
    if (const auto trace = request.device.environment.find("MEMBOUND_TRACE");
        trace != request.device.environment.end())
      beside.device.environment.insert(*trace);
    beside.more_arguments = beside.device.kind->test_arguments();
    if (request.split) {
      auto split = split_options(beside);
      if (!split) return split.error();
      split->seed_key = request.split->seed_key;
      split->use_jail = request.split->use_jail;
      beside.split = *std::move(split);
    }
    looking = run_request(beside, part, beside.device);
  }
  looking.on_tick = request.on_second_look;
  return looking;
}

/// Runs the stages of a part where they belong; adds to `stopped` and `seconds`.
base::Result<std::vector<course::StageMeasurement>> run_part(const CheckRequest& request,
                                                             const CompiledPart& part,
                                                             const Device& device,
                                                             Measured& measured) {
  const RunRequest run = run_request(request, part, device);
  auto needed = run.bed->needed(run.parts);
  needed.insert(needed.begin(), run.program);
  for (const fs::path& file : needed)
    if (std::error_code ignored; !fs::exists(file, ignored)) return not_built(file);
  const auto start = std::chrono::steady_clock::now();
  auto outcome = run_stages(run);
  if (!outcome) return outcome.error();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  measured.seconds += taken.count();
  measured.stopped = measured.stopped || outcome->stopped;
  return std::move(outcome->measurements);
}

/// Adds the times on the request's own device to measurements that were made on the virtual one.
base::Status add_times(const CheckRequest& request, const CompiledPart& part,
                       std::vector<course::StageMeasurement>& measurements) {
  RunRequest run = run_request(request, part, request.device);
  // A program is linked with a runtime of that name, not with a folder.
  auto folders = gpu_library_folders(run.parts.runner);
  if (!folders) return folders.error();
  if (const char* old = std::getenv("LD_LIBRARY_PATH"); old != nullptr && *old != '\0')
    folders->emplace_back(old);
  run.environment["LD_LIBRARY_PATH"] = base::search_path(*folders);
  return time_programs(run, measurements);
}

bool can_run(const CompiledPart& part) {
  return part.not_for_compiler.empty() && part.submission.compiled;
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
  if (!part.not_for_compiler.empty())
    return all_are(course::Verdict::kSkipped, part.not_for_compiler);
  if (!part.submission.compiled)
    return all_are(course::Verdict::kCompileError, compile_reason(part.submission));
  const Device device = device_of(*part.kind, request.device, request.place);
  if (!measurements) {
    auto now = run_part(request, part, device, measured);
    if (!now) return now.error();
    measurements = *std::move(now);
  }
  if (times_programs(request, part) && !measured.stopped)
    if (const auto timed = add_times(request, part, *measurements); !timed) return timed.error();
  if (request.looks.any() && !measured.stopped) {
    auto looking = looking_run(request, part, run_request(request, part, device));
    if (!looking) return looking.error();
    auto gaps = code_with_gaps(request, *part.kind, *measurements);
    if (!gaps) return gaps.error();
    // nvcc's own code has passed, and is looked at too.
    const bool in_place = request.compiler.kind == compilers::DeviceCompiler::kClang;
    if (!gaps->empty()) (in_place ? looking->submission : looking->with_gaps) = *std::move(gaps);
    look_again(*looking, request.looks, *measurements);
  }
  if (request.looks.for_counters && !measured.stopped && part.kind->has_reference &&
      !request.device.kind->counts()) {
    RunRequest on_gpu = run_request(request, part, device);
    auto on_virtual = looking_run(request, part, on_gpu);
    if (!on_virtual) return on_virtual.error();
    const char* const path = std::getenv("PATH");
    choose_counting(request, find_ncu(path == nullptr ? "" : path, request.compiler))
        ->count({std::move(on_gpu), *std::move(on_virtual)}, *measurements);
  }
  judge_all(request, device, *measurements, result);
  return base::Done{};
}

}  // namespace

CompileRequest submission_request(const CheckRequest& request, const course::StageKind& kind) {
  CompileRequest submission = compile_request(request, kind, request.submission);
  submission.graded = request.graded;
  if (submission.graded) {
    auto& allowed = submission.graded->allowed;
    allowed.insert(allowed.end(), request.lab->allows.begin(), request.lab->allows.end());
  }
  return submission;
}

fs::path built_reference(const Workplace& place, const std::string& lab,
                         compilers::DeviceCompiler compiler) {
  return place.build / "labs" / lab / ("reference" + std::string(compilers::code_ending(compiler)));
}

fs::path reference_source(const Workplace& place, const std::string& lab) {
  return place.root / "solutions" / lab / "kernel.cu";
}

fs::path test_program(const Workplace& place, const std::string& lab,
                      const course::StageKind& kind) {
  return place.build / "labs" / lab / kind.test_program;
}

fs::path harness_kernels(const Workplace& place) {
  const fs::path stem = place.build / "grader" / "harness" / "harness";
  std::error_code ignored;
  for (const compilers::DeviceCompiler compiler :
       {compilers::DeviceCompiler::kNvcc, compilers::DeviceCompiler::kClang})
    if (fs::path file = stem.string() + std::string(compilers::code_ending(compiler));
        fs::exists(file, ignored))
      return file;
  return stem;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool CompiledSubmission::any_compiled() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const CompiledPart& part) { return part.submission.compiled; });
}

const CompiledCode& CompiledSubmission::first_problem() const {
  const auto bad = std::find_if(parts.begin(), parts.end(), [](const CompiledPart& part) {
    return !part.submission.compiled && part.not_for_compiler.empty();
  });
  return (bad == parts.end() ? parts.front() : *bad).submission;
}

const fs::path& CompiledSubmission::file() const {
  return std::find_if(parts.begin(), parts.end(),
                      [](const CompiledPart& part) { return part.submission.compiled; })
      ->submission.file;
}

const CompiledPart* CompiledSubmission::with_reference() const {
  const auto found = std::find_if(parts.begin(), parts.end(), [](const CompiledPart& part) {
    return part.submission.compiled && part.kind->has_reference;
  });
  return found == parts.end() ? nullptr : &*found;
}

base::Result<CompiledSubmission> compile_submission(const CheckRequest& request) {
  CompiledSubmission whole{parts_of(request)};
  for (CompiledPart& part : whole.parts) {
    const bool other_compiler =
        !part.kind->every_compiler && request.compiler.kind != compilers::DeviceCompiler::kNvcc;
    if (other_compiler && whole.parts.size() > 1 && !request.graded) {
      part.not_for_compiler =
          "a whole program is compiled by nvcc, which is not here: "
          "./membound fetches it; or --compiler nvcc";
      continue;
    }
    if (const auto done = compile_part(request, part); !done) return done.error();
  }
  return whole;
}

base::Result<SplitOptions> split_options(const CheckRequest& request) {
  SplitOptions split;
  split.device_seconds = request.device_seconds;
  split.runner = request.place.build / "libexec" / "membound_runner";
  split.forward_folder = request.place.build / "forward";
  for (const fs::path& needed : {split.runner, split.forward_folder})
    if (std::error_code ignored; !fs::exists(needed, ignored)) return not_built(needed);
  auto key = fresh_seed_key();
  if (!key) return key.error();
  split.seed_key = *std::move(key);
  // What chooses the device of a check chooses that of its runners.
  split.runner_environment = request.device.environment;
  if (request.lab->vgpu_sms > 0)
    split.runner_environment.emplace("MEMBOUND_SMS", std::to_string(request.lab->vgpu_sms));
  if (const auto folders = split.runner_environment.find("LD_LIBRARY_PATH");
      folders != split.runner_environment.end()) {
    std::istringstream text(folders->second);
    for (std::string folder; std::getline(text, folder, ':');)
      if (!folder.empty()) split.runtime_folders.emplace_back(folder);
  }
  double seconds_per_stage = request.seconds_per_stage;
  for (const course::Stage& stage : request.lab->stages)
    seconds_per_stage =
        std::max(seconds_per_stage, request.seconds_per_stage + stage.timeout_seconds);
  const base::Status equipped = request.device.kind->equip(
      split, request.device, static_cast<int>(request.stages.size()), seconds_per_stage);
  if (!equipped) return equipped.error();
  return split;
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

base::Status use_device(const Device& device, CheckRequest& request) {
  for (const auto& [name, value] : device.environment) request.device.environment[name] = value;
  request.device.lock_file = device.lock_file;
  request.device.gpu_number = device.gpu_number;
  if (!request.split) return base::Done{};
  auto split = split_options(request);
  if (!split) return split.error();
  split->seed_key = request.split->seed_key;
  split->use_jail = request.split->use_jail;
  split->reference_times = request.split->reference_times;
  request.split = *std::move(split);
  return base::Done{};
}

base::Result<Measured> measure(const CheckRequest& request, const CompiledSubmission& code) {
  Measured measured;
  measured.stopped = code.first_problem().stopped;
  measured.parts.resize(code.parts.size());
  for (std::size_t i = 0; i < code.parts.size() && !measured.stopped; ++i) {
    const CompiledPart& part = code.parts[i];
    const Device device = device_of(*part.kind, request.device, request.place);
    if (!can_run(part) || device.kind != request.device.kind) continue;
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
