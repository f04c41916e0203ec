// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Who counts what a check timed on a GPU, which itself counts nothing: the virtual GPU, or beside
/// it NVIDIA's profiler, ncu, on that GPU. What they count explains; no verdict and no point hangs
/// on it, and where ncu surprises in any way the virtual GPU's counts stay, with a note that says
/// why. There are two: CountsOnVirtualGpu and CountsWithNcu.
/// Place in the chain: judge -> [launch_counting] -> second_look, ncu_table, ncu_counts.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "grader/course/measurement.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/test_program.hpp"

namespace membound::judge {

/// How the timed launches of some stages are run once more.
struct CountingRuns {
  RunRequest on_gpu;      ///< as they were timed
  RunRequest on_virtual;  ///< on the virtual GPU
};

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
[[nodiscard]] std::unique_ptr<LaunchCounting> choose_counting(const CheckRequest& request, Ncu ncu);

}  // namespace membound::judge
