// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/check_request.hpp"

#include <algorithm>
#include <sstream>
#include <system_error>

#include "grader/judge/build_info.hpp"
#include "grader/judge/sandboxed_run.hpp"

namespace membound::judge {

namespace fs = std::filesystem;

base::Result<SandboxOptions> sandbox_options(const CheckRequest& request) {
  SandboxOptions sandbox;
  sandbox.device_seconds = request.device_seconds;
  sandbox.runner = request.place.build / "libexec" / "membound_runner";
  sandbox.forward_folder = request.place.build / "forward";
  for (const fs::path& needed : {sandbox.runner, sandbox.forward_folder})
    if (std::error_code ignored; !fs::exists(needed, ignored)) return not_built(needed);
  auto key = fresh_seed_key();
  if (!key) return key.error();
  sandbox.seed_key = *std::move(key);
  // What chooses the device of a check chooses that of its runners.
  sandbox.runner_environment = request.device.environment;
  if (const auto folders = sandbox.runner_environment.find("LD_LIBRARY_PATH");
      folders != sandbox.runner_environment.end()) {
    std::istringstream text(folders->second);
    for (std::string folder; std::getline(text, folder, ':');)
      if (!folder.empty()) sandbox.runtime_folders.emplace_back(folder);
  }
  double seconds_per_stage = request.seconds_per_stage;
  for (const course::Stage& stage : request.lab->stages)
    seconds_per_stage =
        std::max(seconds_per_stage, request.seconds_per_stage + stage.timeout_seconds);
  const base::Status equipped = request.device.kind->equip(
      sandbox, request.device, static_cast<int>(request.stages.size()), seconds_per_stage);
  if (!equipped) return equipped.error();
  return sandbox;
}

base::Status use_device(const Device& device, CheckRequest& request) {
  for (const auto& [name, value] : device.environment) request.device.environment[name] = value;
  request.device.lock_file = device.lock_file;
  request.device.gpu_number = device.gpu_number;
  if (!request.sandbox) return base::Done{};
  auto sandbox = sandbox_options(request);
  if (!sandbox) return sandbox.error();
  sandbox->seed_key = request.sandbox->seed_key;
  sandbox->sample_seed = request.sandbox->sample_seed;
  sandbox->use_jail = request.sandbox->use_jail;
  sandbox->reference_times = request.sandbox->reference_times;
  request.sandbox = *std::move(sandbox);
  return base::Done{};
}

namespace {

using compilers::DeviceCompiler;

base::Result<compilers::CompilerInfo> choose_compiler(const Workplace& place,
                                                      const std::string& wanted,
                                                      const Device& device) {
  const auto places = compilers::compiler_places(place.root);
  if (wanted.empty()) {
    auto any = compilers::find_any_compiler(places, device.target);
    if (!any || has_references(place, any->kind)) return any;
    const auto other =
        any->kind == DeviceCompiler::kNvcc ? DeviceCompiler::kClang : DeviceCompiler::kNvcc;
    auto found = compilers::find_compiler(other, places, device.target);
    return found && has_references(place, other) ? found : any;
  }
  return compilers::find_compiler(
      wanted == "clang" ? DeviceCompiler::kClang : DeviceCompiler::kNvcc, places, device.target);
}

std::filesystem::path submission_of(const CheckOptions& options, const course::Lab& lab) {
  if (options.submission.empty()) return lab.folder / "kernel.cu";
  std::error_code error;
  const auto whole = std::filesystem::absolute(options.submission, error);
  return error ? std::filesystem::path(options.submission) : whole.lexically_normal();
}

}  // namespace

base::Result<Tools> choose_tools(const Workplace& place, const CheckOptions& options) {
  if (options.gpu_is_elsewhere && options.device.starts_with("gpu:"))
    return base::Error{base::ErrorKind::kUsage, "--device " + options.device,
                       "names GPUs of this machine, and nodes of a cluster grade", "--device gpu",
                       "how many GPUs a task gets is Slurm's: --slurm-option=--gres=gpu:1"};
  auto devices = options.gpu_is_elsewhere && options.device == "gpu"
                     ? base::Result<std::vector<Device>>(std::vector{real_gpu(place.build)})
                     : choose_devices(options.device, place.build, options.no_gpu);
  if (!devices) return devices.error();
  const Device& device = devices->front();
  const bool both = options.compiler == "both";
  auto compiler = choose_compiler(place, both ? "nvcc" : options.compiler, device);
  if (!compiler) return compiler.error();
  Tools tools{device, std::move(*compiler)};
  tools.all_devices = *std::move(devices);
  if (both) {
    auto clang = choose_compiler(place, "clang", tools.device);
    if (!clang) return clang.error();
    tools.second_compiler = std::move(*clang);
  }
  return tools;
}

std::string architecture_for(const Device& device, DeviceCompiler compiler) {
  if (device.target.capability > 0) return std::to_string(device.target.capability);
  // A virtual GPU executes what clang makes by default, whatever card the course was built for.
  const int built = std::atoi(kArchitecture);
  return std::to_string(
      compiler == DeviceCompiler::kClang ? std::max(built, compilers::kClangArchitecture) : built);
}

CheckRequest request_for(const Workplace& place, const Tools& tools, const CheckOptions& options,
                         const course::Selection& selection, const std::atomic<bool>* stop) {
  CheckRequest request;
  request.place = place;
  request.lab = selection.lab;
  request.stages = selection.stages;
  request.submission = submission_of(options, *selection.lab);
  request.compiler = tools.compiler;
  request.architecture = architecture_for(tools.device, tools.compiler.kind);
  request.device = tools.device;
  request.profiling.pictures = options.trace && has_vgpu(place.build);
  request.more_arguments = tools.device.kind->test_arguments();
  if (!options.test.empty()) request.more_arguments.push_back("--gtest_filter=*." + options.test);
  if (!options.size.empty())
    request.more_arguments.insert(request.more_arguments.end(), {"--size", options.size});
  request.seconds_per_stage = tools.device.kind->seconds_per_stage();
  request.stages_at_once = tools.device.kind->stages_at_once();
  request.seed = options.seed;
  request.version = kVersion;
  request.stop = stop;
  return request;
}

}  // namespace membound::judge
