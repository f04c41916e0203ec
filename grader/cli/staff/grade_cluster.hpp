// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `grade` tells the Slurm executor: how its tasks are called, and what a site wants besides.
/// Place in the chain: grade_command -> [grade_cluster] -> slurm_executor.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/classroom/queue/slurm_executor.hpp"
#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// Options of the command line; they go before the site's file.
struct ClusterOptions {
  std::string file;                  ///< --cluster
  std::vector<std::string> options;  ///< for sbatch
  std::optional<std::size_t> chunk;
  std::optional<int> at_once, minutes;

  [[nodiscard]] bool any() const {
    return !file.empty() || !options.empty() || chunk || at_once || minutes;
  }
};

/// What a task is told of the batch.
struct TaskCall {
  std::string out, key;
  bool trust = false;
};

/// Reads the site's file. An error too where it, or an option, asks for a GPU and the class would
/// be graded on a virtual device.
[[nodiscard]] base::Result<queue::SlurmSettings> slurm_settings(const ClusterOptions& options,
                                                                const TaskCall& call,
                                                                const queue::Settings& settings,
                                                                const Context& context);

/// The command line as it was given, for a shell. What was to be graded again is queued already.
[[nodiscard]] std::string call_to_repeat();
/// The same of words that each end with a zero, as /proc/self/cmdline has them.
[[nodiscard]] std::string call_to_repeat(const std::string& line);

}  // namespace membound::cli
