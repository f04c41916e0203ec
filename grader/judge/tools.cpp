// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/tools.hpp"

#include <algorithm>
#include <system_error>
#include <thread>

#include "grader/judge/build_info.hpp"

namespace membound::judge {
namespace {

using compilers::DeviceCompiler;

/// The virtual GPU computes every thread on the CPU, which may be busy with other work.
constexpr double kVirtualSecondsPerStage = 1200;

base::Result<compilers::CompilerInfo> choose_compiler(const Workplace& place,
                                                      const std::string& wanted,
                                                      const Device& device) {
  const auto places = compilers::compiler_places(place.root);
  if (wanted == "clang") {
    if (!device.is_virtual()) {
      return base::Error{base::ErrorKind::kUsage, "--compiler clang",
                         "makes code for the virtual GPU only, and this check is for a real one",
                         "", "--device vgpu, or --compiler nvcc"};
    }
    return compilers::find_compiler(DeviceCompiler::kClang, places);
  }
  if (wanted == "nvcc" || !device.is_virtual())
    return compilers::find_compiler(DeviceCompiler::kNvcc, places);
  return compilers::find_any_compiler(places);
}

std::filesystem::path submission_of(const CheckOptions& options, const course::Lab& lab) {
  if (options.submission.empty()) return lab.folder / "kernel.cu";
  std::error_code error;
  const auto whole = std::filesystem::absolute(options.submission, error);
  return error ? std::filesystem::path(options.submission) : whole.lexically_normal();
}

}  // namespace

base::Result<Tools> choose_tools(const Workplace& place, const CheckOptions& options) {
  auto device = choose_device(options.device, place.root, place.build);
  if (!device) return device.error();
  const bool both = options.compiler == "both";
  auto compiler = choose_compiler(place, both ? "nvcc" : options.compiler, *device);
  if (!compiler) return compiler.error();
  Tools tools{std::move(*device), std::move(*compiler)};
  if (both) {
    auto clang = choose_compiler(place, "clang", tools.device);
    if (!clang) return clang.error();
    tools.second_compiler = std::move(*clang);
  }
  return tools;
}

CheckRequest request_for(const Workplace& place, const Tools& tools, const CheckOptions& options,
                         const course::Selection& selection, const std::atomic<bool>* stop) {
  CheckRequest request;
  request.place = place;
  request.lab = selection.lab;
  request.stages = selection.stages;
  request.submission = submission_of(options, *selection.lab);
  request.compiler = tools.compiler;
  request.architecture = kArchitecture;
  request.device = tools.device.name;
  request.environment = tools.device.environment;
  if (tools.device.is_virtual()) {
    request.more_arguments = {"--counters"};
    if (options.trace) request.environment["MEMBOUND_TRACE"] = "on";
    request.seconds_per_stage = kVirtualSecondsPerStage;
    request.stages_at_once = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  }
  request.seed = options.seed;
  request.version = kVersion;
  request.stop = stop;
  return request;
}

}  // namespace membound::judge
