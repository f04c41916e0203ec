// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The executor that lets a Slurm cluster grade: the queue becomes a job array, each task grades a
/// chunk, and this process collects result files. What Slurm says is never taken for a result, nor
/// its silence for a failure: tasks that are lost, or whose heartbeat stands still, are submitted
/// again, those that come twice find their result there.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "grader/classroom/queue/batch_executor.hpp"
#include "grader/classroom/slurm/slurm.hpp"

namespace membound::queue {

struct SlurmSettings {
  std::vector<std::string> task_command;           ///< grades one chunk; its number comes after
  std::map<std::string, std::string> environment;  ///< of each task
  std::vector<std::string> options;                ///< for sbatch: "--partition=gpu"
  std::vector<std::string> prolog, modules, container;  ///< see slurm::Array
  std::string call;                                     ///< to give again, for advice
  std::size_t chunk = 16;                               ///< submissions of one task, at most
  int at_once = 0;  ///< tasks running together; 0: as many as fit
  int minutes_per_task = 60;
  double poll_seconds = 1;   ///< between two looks at the folder of results
  double queue_seconds = 5;  ///< between two looks at Slurm
  /// Without a heartbeat until a task that runs counts as lost. A shared file system may show a
  /// file a minute late. And from its start to the first one: prolog and container come before it.
  double heartbeat_timeout_seconds = 85;
  double start_timeout_seconds = 100;
  double quiet_seconds = 100;     ///< without news until a line says what is waited for
  double forgotten_seconds = 60;  ///< that a node is held for no job until that is said
  std::function<void(const std::string& text)>
      report_trouble;  ///< troubles and their remedies, once each
};

/// Returns when every job of the queue has its verdict, or after Ctrl-C, which cancels the arrays.
/// An error: what stops every task is the site's, and more tries would only use up attempts.
[[nodiscard]] base::Result<Executed> run_slurm(const Work& work,
                                               const std::vector<const Job*>& queue,
                                               const std::filesystem::path& out,
                                               const SlurmSettings& settings);

/// One task of a job array as the waiting call sees it: what Slurm says, and what its heartbeat
/// does.
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
