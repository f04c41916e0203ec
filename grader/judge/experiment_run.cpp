// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/experiment_run.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/judge/build_info.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/device_lock.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

base::Result<CompiledCode> compile_kernel(const ExperimentRequest& request) {
  CompileRequest compile_request;
  compile_request.source = request.experiment.file;
  compile_request.root = request.place.root;
  compile_request.lab_folder = request.place.root / "labs" / request.experiment.lab;
  compile_request.compiler = request.tools.compiler;
  compile_request.architecture =
      architecture_for(request.tools.device, request.tools.compiler.kind);
  compile_request.cache_folder = request.place.state / "cache";
  compile_request.stop = request.stop;
  auto code = compile(compile_request);
  if (!code || code->compiled || code->stopped) return code;
  return base::Error{base::ErrorKind::kInput, request.experiment.file.string(),
                     "does not compile:\n" + code->output, "the course's kernel, or your change",
                     "git checkout brings the course's back"};
}

std::optional<base::Error> size_problem(const ExperimentRequest& request) {
  const course::Experiment& experiment = request.experiment;
  if (request.size == 0 || experiment.takes_size(request.size)) return std::nullopt;
  return base::Error{base::ErrorKind::kUsage, "--size", std::to_string(request.size),
                     experiment.size_rule() + ": what the kernel of " + experiment.name + " takes",
                     "--size " + std::to_string(experiment.vgpu_size)};
}

/// What membound_experiment wrote up to now: a line about the device, then one a point.
course::ExperimentRun read_run(const ExperimentRequest& request, const fs::path& file) {
  course::ExperimentRun run{request.experiment, "", false, request.size, {}};
  std::ifstream lines(file);
  std::string line;
  for (std::size_t i = 0; std::getline(lines, line) && !lines.eof(); ++i) {
    const nlohmann::json found = nlohmann::json::parse(line);
    if (i == 0) {
      run.device = found.at("device");
      run.predicted = found.at("predicted");
      run.size = found.at("size");
      continue;
    }
    const double time_ns = found;
    run.times.push_back({request.experiment.points.at(i - 1), time_ns,
                         time_ns > 0 ? request.experiment.amount(run.size) / time_ns : 0});
  }
  return run;
}

}  // namespace

base::Result<course::ExperimentRun> run_experiment(const ExperimentRequest& request) {
  if (const auto problem = size_problem(request)) return *problem;
  const auto code = compile_kernel(request);
  if (!code) return code.error();
  if (code->stopped) return read_run(request, {});
  const fs::path program = request.place.build / "libexec" / "membound_experiment";
  if (!fs::exists(program))
    return base::Error{base::ErrorKind::kMachine, program.string(), "is not built",
                       "the program that times experiments",
                       "start with ./membound, which builds what is missing"};
  const base::ScratchFolder folder("experiment");
  const fs::path result = folder.path() / "result.json";
  DeviceLock lock(request.tools.device.lock_file);
  const std::lock_guard held(lock);
  const auto run = base::run_process(
      {.arguments = {program.string(), "--root", request.place.root.string(), "--experiment",
                     request.experiment.name, "--size", std::to_string(request.size), "--code",
                     code->file.string(), "--harness-kernels",
                     harness_kernels(request.place).string(), "--result", result.string()},
       .environment = request.tools.device.environment,
       .stop = request.stop,
       .keep_going = [&] {
         if (request.on_tick) request.on_tick(read_run(request, result).times.size());
         return true;
       }});
  if (!run) return run.error();
  if (run->stopped || run->exit_code == 0) return read_run(request, result);
  const auto& points = request.experiment.points;
  const std::size_t at = std::min(read_run(request, result).times.size(), points.size() - 1);
  return base::Error{run->exit_code == 2 ? base::ErrorKind::kInput : base::ErrorKind::kMachine,
                     request.experiment.name,
                     "no time for \"" + points[at].label + "\":\n" + run->output, "", ""};
}

ProgramRun program_of(const course::Experiment& experiment, const Tools& tools) {
  ProgramRun run{experiment.file, {}};
  if (!experiment.program) return run;
  const bool is_virtual = tools.device.kind->predicts_times();
  run.arguments = is_virtual ? experiment.program->vgpu : experiment.program->gpu;
  if (const int number = experiment.program->vgpu_multiprocessors; is_virtual && number > 0)
    run.environment["MEMBOUND_SMS"] = std::to_string(number);
  return run;
}

namespace {

/// nvcc's command line takes what the handout tells to type; clang's is that of a lab's program.
std::vector<std::string> compile_command(const Workplace& place, const fs::path& source,
                                         const Tools& tools, const fs::path& executable) {
  if (tools.compiler.kind == compilers::DeviceCompiler::kClang)
    return compilers::command_of({.kind = tools.compiler.kind,
                                  .program = tools.compiler.program,
                                  .student = course::own_copy(place.root, "grader/harness/student"),
                                  .lab = source.parent_path(),
                                  .source = source,
                                  .output = executable,
                                  .runtime = place.build / "vgpu"});
  // A virtual GPU executes the PTX of one architecture, whatever GPU it imitates.
  const bool is_virtual = tools.device.kind->predicts_times();
  const std::string architecture = is_virtual ? "sm_" + std::string(kArchitecture) : "native";
  return {tools.compiler.program,
          "-O3",
          "-std=c++20",
          "-cudart",
          is_virtual ? "shared" : "static",
          "-lineinfo",
          "-arch=" + architecture,
          source.string(),
          "-o",
          executable};
}

}  // namespace

base::Result<std::string> run_program(const Workplace& place, const ProgramRun& program,
                                      const Tools& tools, const std::atomic<bool>* stop) {
  constexpr double kSeconds = 300;  // some take half a minute on two cores
  // It calls more of the runtime than the one that GPUs have here.
  if (tools.compiler.kind == compilers::DeviceCompiler::kClang &&
      !tools.device.kind->predicts_times())
    return base::Error{
        base::ErrorKind::kUsage, program.source.filename().string(),
        "a whole program for a GPU, and " + tools.compiler.name() + " as the compiler",
        "nvcc, which alone compiles whole programs for GPUs", "--compiler nvcc, or --device vgpu"};
  const base::ScratchFolder folder("program");
  const std::string executable = (folder.path() / "program").string();
  const auto compiled =
      base::run_process({.arguments = compile_command(place, program.source, tools, executable),
                         .timeout_seconds = kSeconds,
                         .stop = stop});
  if (!compiled) return compiled.error();
  if (compiled->stopped) return std::string();
  if (compiled->exit_code != 0)
    return base::Error{
        base::ErrorKind::kInput, program.source.string(), "does not compile:\n" + compiled->output,
        "the course's program, or your change", "git checkout brings the course's back"};
  auto environment = tools.device.environment;
  for (const auto& [name, value] : program.environment) environment[name] = value;
  std::vector<std::string> words = {executable};
  words.insert(words.end(), program.arguments.begin(), program.arguments.end());
  DeviceLock lock(tools.device.lock_file);
  const std::lock_guard held(lock);
  const auto outcome = base::run_process(
      {.arguments = words, .environment = environment, .timeout_seconds = kSeconds, .stop = stop});
  if (!outcome) return outcome.error();
  if (outcome->stopped) return std::string();
  if (outcome->exit_code != 0)
    return base::Error{base::ErrorKind::kInput, program.source.string(),
                       "failed:\n" + outcome->output, "a program that ends by itself",
                       "membound doctor tells whether the device answers"};
  return outcome->output;
}

}  // namespace membound::judge
