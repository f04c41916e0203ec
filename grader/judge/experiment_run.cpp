// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/experiment_run.hpp"

#include <algorithm>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
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
  compile_request.architecture = kArchitecture;
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

}  // namespace membound::judge
