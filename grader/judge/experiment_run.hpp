// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Runs one experiment: compiles its kernel, starts the program that times its points.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

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

}  // namespace membound::judge
