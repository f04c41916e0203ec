// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One task of a job array as the waiting call sees it: what Slurm says, and what its heartbeat
/// does. Place in the chain: slurm, heartbeat -> [task_watch] -> slurm_executor. Left out: what
/// becomes of what a lost task owes.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "grader/classroom/slurm/slurm.hpp"

namespace membound::queue {

struct SlurmSettings;

class TaskWatch {
 public:
  TaskWatch(std::string job, int number, std::filesystem::path beats);

  /// Takes note of what there is to see now. over() afterwards, where nothing more will come:
  /// because the task ended, or because it is dead though Slurm says otherwise, which is returned
  /// as a sentence; else "".
  [[nodiscard]] std::string look(const slurm::Snapshot& snapshot, const SlurmSettings& settings);
  /// It owes nothing any more.
  void close() { over_ = true; }

  [[nodiscard]] const std::string& job() const { return job_; }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool over() const { return over_; }
  [[nodiscard]] bool runs() const { return task_.running(); }
  /// Whether there ever was a heartbeat.
  [[nodiscard]] bool began() const { return !beat_.empty(); }
  /// Slurm's reason for letting it wait; "" where it does not wait.
  [[nodiscard]] std::string waits_for() const;
  /// "task 3 of job 12 on node1".
  [[nodiscard]] std::string name() const;
  /// Why it could grade nothing: its last word, or where Slurm says that it failed the last line of
  /// its output in `folder`; "" where nobody says so.
  [[nodiscard]] std::string failure(const std::filesystem::path& folder,
                                    const std::string& array_name) const;

 private:
  using Clock = std::chrono::steady_clock;

  std::string job_;
  int number_;
  std::filesystem::path beats_;
  slurm::Task task_;
  std::string beat_, node_, last_word_;
  Clock::time_point sign_of_life_ = Clock::now();
  int looks_after_end_ = 0;
  bool over_ = false;
};

}  // namespace membound::queue
