// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Job arrays on a Slurm cluster: submit, look, cancel, through Slurm's own commands. Slurm
/// forgets and repeats tasks when it is killed (a controller that comes back may
/// start finished tasks again and drain the node), so what Slurm says is only a hint; the files
/// that tasks write are the truth.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::slurm {

/// An array to submit: `command` runs once for each of `tasks`, the task's number after it.
struct Array {
  std::string name;
  std::filesystem::path folder;  ///< for the script and the tasks' output; shared with the nodes
  std::vector<std::string> command;  ///< the program first
  /// Set in each task, whatever of this machine's environment Slurm hands on (--export=NONE).
  std::map<std::string, std::string> environment;
  std::vector<int> tasks;              ///< numbers, ascending, at least one
  int at_once = 0;                     ///< tasks running at the same time; 0: as many as fit
  int minutes = 60;                    ///< of one task
  int memory_mb = 0;                   ///< of one task; 0: the cluster's default
  std::vector<std::string> options;    ///< for sbatch: "--gres=gpu:1", "--partition=gpu"
  std::vector<std::string> prolog;     ///< lines of the script before the command,
  std::vector<std::string> modules;    ///< then environment modules,
  std::vector<std::string> container;  ///< and words before the command itself
};

/// One task as Slurm sees it.
struct Task {
  int number = 0;
  std::string state;   ///< "PENDING", "RUNNING", "COMPLETED", …
  std::string reason;  ///< "Resources", "launch failed requeued held", …; "None" for none
  std::string node;    ///< where it runs or ran; may be empty

  /// Waits, runs or comes to its end: may still do something.
  [[nodiscard]] bool alive() const;
  /// Was given a node.
  [[nodiscard]] bool running() const;
  /// Waits for somebody to release it because a node could not start it; nobody else held it.
  [[nodiscard]] bool held_after_failure() const;
  /// Ended by a failure of its own or of its node's, in Slurm's eyes.
  [[nodiscard]] bool failed() const;
};

/// Something that will not mend itself, and what does.
struct Trouble {
  std::string what;
  std::string fix;  ///< a command, or a sentence
};

/// What there is to see.
struct Snapshot {
  std::vector<Task> tasks;  ///< that Slurm still knows
  std::vector<Trouble> troubles;
  /// Nodes that Slurm holds for no job while tasks wait for room. For a moment, as a job ends, that
  /// is nothing; where it lasts, nothing but the fix ends it.
  std::vector<Trouble> forgotten;
  /// Tasks that wait, run or come to their end.
  [[nodiscard]] int alive() const;
};

/// An error when Slurm's commands are missing or no controller answers.
[[nodiscard]] base::Status check_available();

/// The job's id.
[[nodiscard]] base::Result<std::string> submit(const Array& array);

/// An error when no controller answers: look again later.
[[nodiscard]] base::Result<Snapshot> poll(const std::string& job);

/// Ends all tasks of a job, or one: "12", "12_3".
void cancel(const std::string& job);
/// The file that a task's output goes to.
[[nodiscard]] std::filesystem::path log_file(const std::filesystem::path& folder,
                                             const std::string& name, int task);

// --- the texts, for tests -----------------------------------------------------------------------

/// "0-3,7%4".
[[nodiscard]] std::string array_text(const std::vector<int>& tasks, int at_once);
/// The script of an array, every argument and value quoted.
[[nodiscard]] std::string script_text(const Array& array);
/// What to do where sbatch refuses an array with these words.
[[nodiscard]] std::string advice_for(std::string_view sbatch_output);
/// Lines "<job>_<task>|<state>|<reason>|<node>".
[[nodiscard]] std::vector<Task> tasks_from(std::string_view squeue_output);
/// Tasks that are held, and what cannot ever run.
[[nodiscard]] std::vector<Trouble> troubles_of(const std::string& job,
                                               const std::vector<Task>& tasks);
/// Nodes that take no jobs: lines "<node>|<state>|<reason>".
[[nodiscard]] std::vector<Trouble> node_troubles_from(std::string_view sinfo_output);
/// Whether one of them waits until something else ends.
[[nodiscard]] bool any_waits_for_room(const std::vector<Task>& tasks);
/// Nodes with something in use and no job on them: lines "<node>|<CPUs allocated/idle/other/total>|
/// <GRES in use>"; `busy` are the nodes with jobs, a line each.
[[nodiscard]] std::vector<Trouble> forgotten_from(std::string_view sinfo_output,
                                                  std::string_view busy);
/// Whether users see no job but their own, in what `scontrol show config` prints.
[[nodiscard]] bool hides_jobs(std::string_view config);

/// What is the same for every batch on one cluster, from a small YAML file: where tasks run and
/// what comes before them. Every part may be left out.
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

/// Of such a file. An error names the line, what was found there and what may stand
/// there.
[[nodiscard]] base::Result<Site> read_site(const std::string& text, const std::string& file);

}  // namespace membound::slurm
