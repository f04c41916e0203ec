// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is asked of the judge: which submission, which stages, on which device, how closely; and
/// the device, the compiler and the request that follow from a command's options.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/checker_rerun.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/profiling_runs.hpp"
#include "grader/judge/sandboxed_run.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

/// What to check, where and how.
struct CheckRequest {
  Workplace place;
  const course::Lab* lab = nullptr;
  std::vector<int> stages;
  std::filesystem::path submission;  ///< the kernel.cu
  compilers::CompilerInfo compiler;
  std::string architecture = "90";
  Device device = real_gpu();
  std::vector<std::string> more_arguments = {};  ///< for a test program of kernels
  std::uint64_t seed = 1;
  std::optional<SandboxOptions> sandbox = {};  ///< graded: see sandbox_options()
  int stages_at_once = 1;                      ///< more only where nothing is timed by a clock
  CheckerReruns reruns = {};                   ///< what to run again with the checkers on
  ProfilingRuns profiling = {};                ///< what to run again for what explains
  std::filesystem::path sanitizer = {};        ///< compute-sanitizer, to look on too; or empty
  bool times_programs = true;      ///< where the device does that, and nothing is graded
  double seconds_per_stage = 180;  ///< backstop for a test program that reports nothing
  double device_seconds = 0;       ///< see SandboxOptions; of each rerun
  std::string version;             ///< Membound's, for the result
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int stage)> on_tick = {};
  std::function<void(int stage)> on_checker_rerun = {};  ///< the same while a failure is run again
  /// Set for code that nobody trusts; what the lab allows besides is added from lab.json.
  std::optional<GradedCompile> graded = {};
};

/// Lets a check run on this one of several devices of its kind.
[[nodiscard]] base::Status use_device(const Device& device, CheckRequest& request);

/// A graded run of `request`: runners of this build, what they may use, and a fresh seed key. The
/// caller keeps the key for who wants to repeat the run, or puts that of an earlier run in place.
[[nodiscard]] base::Result<SandboxOptions> sandbox_options(const CheckRequest& request);

/// Options of a check as the command line gives them.
struct CheckOptions {
  std::string device;      ///< "" = the GPU if one answers, else the virtual GPU
  std::string compiler;    ///< "" = nvcc, or clang where none makes code for the device
  std::string submission;  ///< another kernel.cu; empty: the lab's
  std::uint64_t seed = 1;
  std::string test;    ///< only this one of each stage; empty: all
  std::string size;    ///< what is timed, like 2048x1024; empty: the lab's
  bool trace = false;  ///< keep what one warp asks of memory, for pictures: ProfilingRuns::pictures
  std::string sanitizer =
      {};  ///< "compute": NVIDIA's looks on as well, on a GPU; empty: ours alone
  std::optional<base::Error> no_gpu = {};  ///< see choose_device()
  /// "gpu" is a cluster node's, which is asked there: this machine may have none.
  bool gpu_is_elsewhere = false;
};

/// Device and compiler that the options lead to on this machine.
struct Tools {
  Device device;
  compilers::CompilerInfo compiler;
  std::optional<compilers::CompilerInfo> second_compiler = {};  ///< --compiler both
  std::vector<Device> all_devices = {};  ///< that the options name; `device` is the first
};
[[nodiscard]] base::Result<Tools> choose_tools(const Workplace& place, const CheckOptions& options);

/// The compute capability, without its dot, that device code is compiled for.
[[nodiscard]] std::string architecture_for(const Device& device,
                                           compilers::DeviceCompiler compiler);

/// The request for one lab.
[[nodiscard]] CheckRequest request_for(const Workplace& place, const Tools& tools,
                                       const CheckOptions& options,
                                       const course::Selection& selection,
                                       const std::atomic<bool>* stop);

}  // namespace membound::judge
