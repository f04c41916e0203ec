// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a call that waits for a cluster tells: troubles once each, and after a time without a
/// result what it waits for.
/// Place in the chain: slurm, task_watch -> [cluster_news] -> SlurmSettings::report_trouble.
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/classroom/queue/slurm_executor.hpp"
#include "grader/classroom/queue/task_watch.hpp"
#include "grader/classroom/slurm/slurm.hpp"

namespace membound::queue {

class ClusterNews {
 public:
  explicit ClusterNews(const SlurmSettings& settings) : settings_(settings) {}

  void tell(const std::string& text);
  void tell_once(const std::string& text);
  void result_came() { latest_ = Clock::now(); }
  /// Whether nothing has come and nothing was told for SlurmSettings::quiet_seconds.
  [[nodiscard]] bool is_quiet() const;
  void tell_what_is_waited_for(const std::vector<TaskWatch>& watches, std::size_t left);
  /// Tells which nodes are held for no job, once that has lasted; again when it comes back.
  void take_forgotten(const std::vector<slurm::Trouble>& forgotten);

 private:
  using Clock = std::chrono::steady_clock;
  /// A node that is held for no job.
  struct Forgotten {
    Clock::time_point since = Clock::now();
    bool told = false;
  };

  const SlurmSettings& settings_;
  std::set<std::string> told_;
  std::map<std::string, Forgotten> forgotten_;  // by what is said of the node
  Clock::time_point latest_ = Clock::now();
};

}  // namespace membound::queue
