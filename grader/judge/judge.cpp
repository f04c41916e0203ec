// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/judge.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <sstream>

#include "grader/base/switches.hpp"
#include "grader/device_code/compilers/compile_hints.hpp"
#include "grader/judge/second_look.hpp"
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

CompileRequest compile_request(const CheckRequest& request, const fs::path& source) {
  CompileRequest compile;
  compile.source = source;
  compile.root = request.place.root;
  compile.lab_folder = request.lab->folder;
  compile.compiler = request.compiler;
  compile.architecture = request.architecture;
  compile.cache_folder = request.place.state / "cache";
  compile.stop = request.stop;
  if (request.lab->host_code) compile.runtime = request.place.build / "forward";
  return compile;
}

/// A result that holds everything but stages.
course::Result empty_result(const CheckRequest& request, const CompiledCode& code) {
  course::Result result;
  result.lab = request.lab->id;
  result.title = request.lab->title;
  result.membound_version = request.version;
  result.created_at = utc_now();
  const fs::path relative = request.submission.lexically_relative(request.place.root);
  result.submission =
      (relative.empty() || *relative.begin() == ".." ? request.submission : relative)
          .generic_string();
  result.submission_sha256 = code.sha256;
  result.compiler = request.compiler.name();
  result.compiler_output = code.output;
  result.seed = request.seed;
  return result;
}

std::string compile_reason(const CompiledCode& code) {
  if (!code.rejected.empty()) return code.rejected;
  if (code.limit != jail::LimitHit::kNone && !code.timed_out)
    return "The compiler reached a limit and was ended: " + std::string(to_string(code.limit)) +
           ".";
  if (code.timed_out)
    return "The compiler took too long and was ended. Very deep templates or loops unrolled many "
           "times do that.";
  return compilers::compile_hint(code.output);
}

void judge_all(const CheckRequest& request, RunOutcome& run, course::Result& result) {
  for (course::StageMeasurement& measurement : run.measurements) {
    // The name by which a student asks for it again.
    measurement.device.virtual_name = request.device.kind->virtual_name(request.device.name);
    const course::Stage& stage = *request.lab->stage(measurement.stage);
    result.stages.push_back(judge_stage(*request.lab, stage, measurement));
    if (result.device.name.empty()) result.device = measurement.device;
  }
}

}  // namespace

fs::path built_reference(const Workplace& place, const std::string& lab,
                         compilers::DeviceCompiler compiler) {
  return place.build / "labs" / lab / ("reference" + std::string(compilers::code_ending(compiler)));
}

fs::path reference_source(const Workplace& place, const std::string& lab) {
  return place.root / "solutions" / lab / "kernel.cu";
}

fs::path test_program(const Workplace& place, const std::string& lab) {
  return place.build / "labs" / lab / "test";
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

void use_slice(const course::GradedSlice& slice, CheckRequest& request) {
  request.device.environment["MEMBOUND_SMS"] = std::to_string(slice.vgpu_sms);
  std::string size;
  for (const std::int64_t extent : slice.size)
    size += (size.empty() ? "" : "x") + std::to_string(extent);
  request.more_arguments.insert(request.more_arguments.end(), {"--size", size});
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

base::Result<CompiledPair> compile_submission(const CheckRequest& request) {
  CompiledPair pair;
  // Its demands speak of the virtual clock's timeline, which no GPU tells.
  if (request.lab->host_code && !request.device.kind->tells_timeline())
    return base::Error{base::ErrorKind::kUsage, request.lab->id,
                       "is a host-code lab, which is judged on the virtual GPU only", "",
                       "--device vgpu"};
  CompileRequest submission = compile_request(request, request.submission);
  submission.graded = request.graded;
  if (submission.graded) {
    auto& allowed = submission.graded->allowed;
    allowed.insert(allowed.end(), request.lab->allows.begin(), request.lab->allows.end());
  }
  auto code = compile(submission);
  if (!code) return code.error();
  pair.submission = std::move(*code);
  if (request.lab->host_code) return pair;  // which no reference answer is run beside
  if (base::switched_off("compile.device-only") && pair.submission.compiled) {
    // As it is where a submission is compiled whole and linked with its tests.
    submission.runtime = request.place.build / "forward";
    submission.library = true;
    const auto library = compile(submission);
    if (!library) return library.error();
    pair.host_code = library->file;
  }
  // Held against a reference of the same compiler, or the ratio would compare compilers. The build
  // made one with each compiler that it found.
  pair.reference = built_reference(request.place, request.lab->id, request.compiler.kind);
  std::error_code ignored;
  if (fs::exists(pair.reference, ignored) || !pair.submission.compiled) return pair;
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
  const auto reference = compile(compile_request(request, source));
  if (!reference) return reference.error();
  if (!reference->compiled && !reference->stopped) {
    return base::Error{
        base::ErrorKind::kInternal, source.string(),
        "does not compile with " + request.compiler.name() + ":\n" + reference->output,
        "a reference answer that compiles", "--compiler nvcc"};
  }
  pair.reference = reference->file;
  return pair;
}

base::Result<SplitOptions> split_options(const CheckRequest& request) {
  SplitOptions split;
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
  const base::Status equipped =
      request.device.kind->equip(split, static_cast<int>(request.stages.size()), seconds_per_stage);
  if (!equipped) return equipped.error();
  return split;
}

base::Result<course::Result> run_and_judge(const CheckRequest& request, const CompiledPair& code) {
  const auto start = std::chrono::steady_clock::now();
  course::Result result = empty_result(request, code.submission);
  if (code.submission.stopped) return result;
  if (!code.submission.compiled) {
    for (const int number : request.stages) {
      result.stages.push_back(not_run(*request.lab, *request.lab->stage(number),
                                      course::Verdict::kCompileError,
                                      compile_reason(code.submission)));
    }
    return result;
  }
  const fs::path program = test_program(request.place, request.lab->id);
  RunRequest run;
  if (request.lab->host_code) {
    run.runner = request.place.build / "libexec" / "membound_runner";
    run.forward_folder = request.place.build / "forward";
  }
  for (const fs::path& needed :
       {program, request.lab->host_code ? run.runner : fs::path(code.reference)})
    if (std::error_code ignored; !fs::exists(needed, ignored)) return not_built(needed);
  run.program = program;
  run.lab_json = request.lab->folder / "lab.json";
  run.submission = code.submission.file;
  run.host_code = code.host_code;
  run.reference = code.reference;
  run.harness_kernels = harness_kernels(request.place);
  run.lab = request.lab;
  run.stages = request.stages;
  run.seed = request.seed;
  run.stages_at_once = request.stages_at_once;
  run.split = request.split;
  run.more_arguments = request.more_arguments;
  run.environment = request.device.environment;
  run.seconds_per_stage = request.seconds_per_stage;
  run.scratch_folder = request.place.state / "tmp";
  run.stop = request.stop;
  run.on_tick = request.on_tick;
  auto outcome = run_stages(run);
  if (!outcome) return outcome.error();
  if (request.look_again && !outcome->stopped && !request.lab->host_code) {
    run.on_tick = request.on_second_look;
    look_again(run, outcome->measurements);
  }
  judge_all(request, *outcome, result);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  result.seconds = taken.count() + code.submission.seconds;
  return result;
}

base::Result<course::Result> check(const CheckRequest& request) {
  const auto code = compile_submission(request);
  if (!code) return code.error();
  return run_and_judge(request, *code);
}

}  // namespace membound::judge
