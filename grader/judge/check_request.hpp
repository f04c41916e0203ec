// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is asked of the judge: which submission, which stages, on which device, how closely.
/// Place in the chain: cli, classroom -> [check_request] -> compiled_submission, judge.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/judge/check_device.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/split_run.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

/// At what to look a second time, with the virtual GPU's checkers on: see second_look.hpp.
struct Looks {
  bool at_failures = false;
  bool at_right_results = false;
  /// Where the device counts nothing: runs on the virtual GPU what was timed, for its counters.
  bool for_counters = false;
  /// Traces one warp of what was timed, on the virtual GPU, for the pictures of a page.
  bool for_pictures = false;

  [[nodiscard]] bool any() const { return at_failures || at_right_results; }
};

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
  std::optional<SplitOptions> split = {};  ///< graded: see split_options()
  int stages_at_once = 1;                  ///< more only where nothing is timed by a clock
  Looks looks = {};                        ///< what to run again with the checkers on
  bool times_programs = true;              ///< where the device does that, and nothing is graded
  double seconds_per_stage = 180;          ///< backstop for a test program that reports nothing
  double device_seconds = 0;               ///< see SplitOptions; of each look again
  std::string version;                     ///< Membound's, for the result
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int stage)> on_tick = {};
  std::function<void(int stage)> on_second_look = {};  ///< the same while a failure is run again
  /// Set for code that nobody trusts; what the lab allows besides is added from lab.json.
  std::optional<GradedCompile> graded = {};
};

/// Lets a check run on this one of several devices of its kind.
[[nodiscard]] base::Status use_device(const Device& device, CheckRequest& request);

/// A graded run of `request`: runners of this build, what they may use, and a fresh seed key. The
/// caller keeps the key for who wants to repeat the run, or puts that of an earlier run in place.
[[nodiscard]] base::Result<SplitOptions> split_options(const CheckRequest& request);

}  // namespace membound::judge
