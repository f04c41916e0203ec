// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is run once more for what explains a verdict: counters of what a GPU timed, which itself
/// counts nothing, by the virtual GPU or beside it by NVIDIA's profiler, ncu; the memory accesses
/// of one warp for a page's pictures; and the times of a program's work on a GPU. All of it comes
/// after everything else that decides has been measured.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/stage_runs.hpp"

namespace membound::judge {

/// What to run once more, of stages with a reference answer.
struct ProfilingRuns {
  /// Where the device counts nothing: runs on the virtual GPU what was timed, for its counters.
  bool counters = false;
  /// Traces one warp of what was timed, on the virtual GPU, for the pictures of a page.
  bool pictures = false;

  [[nodiscard]] bool any() const { return counters || pictures; }
};

/// Runs once more, as `run` says, what was timed of the stages whose results are right, and takes
/// over what is counted there. `device` is the name of that device. The measurements that got
/// counters.
std::vector<course::StageMeasurement*> count_beside(
    const RunRequest& run, const std::string& device,
    std::vector<course::StageMeasurement>& measurements);

/// How the timed launches of some stages are run once more.
struct CountingRuns {
  RunRequest on_gpu;      ///< as they were timed
  RunRequest on_virtual;  ///< on the virtual GPU
};

/// Who counts. What they count explains; no verdict and no point depends on it, and where ncu
/// surprises in any way the virtual GPU's counts stay, with a note that says why. There are two:
/// CountsOnVirtualGpu and CountsWithNcu.
class LaunchCounting {
 public:
  virtual ~LaunchCounting() = default;
  /// Adds counters, who counted them and a note to the measurements whose results are right.
  virtual void count(const CountingRuns& runs,
                     std::vector<course::StageMeasurement>& measurements) const = 0;
};

/// Where ncu is, and what it may take.
struct Ncu {
  std::filesystem::path program;  ///< empty: there is none
  /// Of one stage, beside its own timeout. ncu runs a launch again for every few metrics, a third
  /// of a second each, and costs some seconds to start.
  double seconds_per_stage = 20;
  double seconds = 15;  ///< after so long no other stage is begun: a check is waited for
};

/// ncu in the folders of `path` (as in $PATH) or beside the compiler.
[[nodiscard]] Ncu find_ncu(const std::string& path, const compilers::CompilerInfo& compiler);

/// Counts with `ncu` what a student checks; what is graded, and all where there is no ncu, on the
/// virtual GPU.
[[nodiscard]] std::unique_ptr<LaunchCounting> choose_counting(bool is_graded, Ncu ncu);

/// Copies the traces of the kernels in `traced` to the same kernels in `counters`; both are
/// counters of a stage (course::StageMeasurement::counters). Sizes may differ, and the labels of
/// cases with them: the same is the kernel of that name which comes as often before it in the case
/// of that number.
void put_traces(const nlohmann::json& traced, nlohmann::json& counters);

/// Runs what was timed of the stages once more as `run` says, with a trace, on all blocks of the
/// smallest timed size, and adds what it shows to the stages' counters. Nothing else changes; a run
/// that fails adds nothing.
void add_traces(const RunRequest& run, std::vector<course::StageMeasurement>& measurements);

/// Both, as far as they are wanted; counters as choose_counting() says.
void add_profiles(const CountingRuns& runs, ProfilingRuns wanted, bool is_graded, Ncu ncu,
                  std::vector<course::StageMeasurement>& measurements);

/// Times those stages of `measurements` that pass all their tests, and adds timings, notes and the
/// test ReachesItsBar to them. `run` is the run that they came from, with the environment in which
/// a program finds the device to be timed on. Where they could not be timed a note says why. Never
/// of a graded run: program and events share a process, so a stranger could forge the times.
[[nodiscard]] base::Status time_programs(const RunRequest& run,
                                         std::vector<course::StageMeasurement>& measurements);

}  // namespace membound::judge
