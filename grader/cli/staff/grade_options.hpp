// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `membound grade` reads before it grades: its options, submissions, roster, due dates,
/// extensions, and what it tells the Slurm executor; and the settings that `explain` and
/// `autograde` share with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/batch.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/classroom/queue/slurm_executor.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// Settings of a batch on the device that the options name. `context` must outlive them.
[[nodiscard]] base::Result<queue::Settings> grading_settings(const Context& context,
                                                             const judge::CheckOptions& options,
                                                             bool trust_submissions);

/// `options` with the device and the kind of compiler of an earlier run, where they name none: a
/// verdict must not depend on what else is installed by now. `compiler` as results record it.
[[nodiscard]] judge::CheckOptions as_before(judge::CheckOptions options, const std::string& device,
                                            const std::string& compiler);

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

struct GradeOptions : judge::CheckOptions {
  std::vector<std::string> submissions;
  std::string out;
  std::string lab;
  std::string roster;
  std::string layout;
  std::string course, extensions;
  std::vector<std::string> times;
  std::vector<std::string> sheets;  ///< tables that say who is who
  std::string due;
  std::string attempt;
  std::string key;
  std::optional<double> late_percent;
  std::optional<std::int64_t> grace_minutes;
  int jobs = 0;
  int quarantine_after = 2;
  bool resume = false;
  bool update = false, dry_run = false;
  bool trust = false;
  bool verify = false;
  bool audit = false;
  bool has_seed = false;
  std::vector<std::string> only, regrade;
  std::string requests;
  std::string spot_check;  ///< "gpu:5"
  std::string executor = "local";
  ClusterOptions cluster;
  int device_seconds = static_cast<int>(queue::Settings::kDeviceSeconds);
  int task = -1;  ///< of a job array: the chunk to grade
};

[[nodiscard]] base::Error wrong_use(const std::string& where, const std::string& found,
                                    const std::string& expected, const std::string& advice);

/// Sources, lab, layout and roster; the roster of an earlier call where this one names none.
[[nodiscard]] base::Status read_intake(const GradeOptions& options, const Context& context,
                                       queue::BatchRequest& request);

/// Due dates, extensions, attempts: course.yml, a table of extensions, and this call's options.
[[nodiscard]] base::Status read_rules(const GradeOptions& options, const Context& context,
                                      queue::BatchRequest& request);

}  // namespace membound::cli
