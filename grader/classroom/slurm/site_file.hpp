// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What is the same for every batch on one cluster: where tasks run and what comes before them, as
/// a small YAML file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::slurm {

/// Every part may be left out.
struct Site {
  std::vector<std::string> options;    ///< for sbatch, from partition, account, … and `options`
  std::vector<std::string> prolog;     ///< lines of the task's script, before all else
  std::vector<std::string> modules;    ///< loaded after it
  std::vector<std::string> container;  ///< words before the task's command
  std::optional<int> minutes;          ///< of a task
  std::optional<int> at_once;          ///< tasks running together
  std::optional<int> chunk;            ///< submissions of a task, at most
  std::optional<int> start_seconds;    ///< that prolog and container may take until the first beat
};

/// An error names the line, what was found there and what may stand there.
[[nodiscard]] base::Result<Site> read_site(const std::string& text, const std::string& file);

}  // namespace membound::slurm
