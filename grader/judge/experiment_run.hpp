// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs one experiment: compiles its kernel, starts the program that times its points; or compiles
/// and starts a program of a handout.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/experiment.hpp"
#include "grader/judge/check_request.hpp"

namespace membound::judge {

/// What to run, and where.
struct ExperimentRequest {
  Workplace place;
  Tools tools;
  course::Experiment experiment;
  std::int64_t size = 0;  ///< n; 0: the table's for this kind of device
  const std::atomic<bool>* stop = nullptr;
  /// Called about twenty times a second while points are timed, with how many are.
  std::function<void(std::size_t points_done)> on_tick = {};
};

/// All points, in the table's order; `stop` ends it with fewer. An error says which size the
/// kernel takes where `size` is another one, and what the compiler or the device said.
[[nodiscard]] base::Result<course::ExperimentRun> run_experiment(const ExperimentRequest& request);

/// A program of a handout, and how to start it.
struct ProgramRun {
  std::filesystem::path source;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment = {};  ///< on top of the device's
};

/// The program of `experiment` for the device of `tools`.
[[nodiscard]] ProgramRun program_of(const course::Experiment& experiment, const Tools& tools);

/// What it prints; empty where `stop` ended it. An error with the output where compiling or running
/// it fails.
[[nodiscard]] base::Result<std::string> run_program(const Workplace& place,
                                                    const ProgramRun& program, const Tools& tools,
                                                    const std::atomic<bool>* stop);

}  // namespace membound::judge
