// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What `membound grade` reads before it grades: submissions, roster, due dates, extensions.
/// Place in the chain: grade_command -> [grade_intake] -> intake.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/classroom/queue/batch.hpp"
#include "grader/cli/staff/grade_cluster.hpp"
#include "grader/cli/staff/grading_options.hpp"

namespace membound::cli {

struct GradeOptions : judge::CheckOptions {
  std::vector<std::string> submissions;
  std::string out;
  std::string lab;
  std::string roster;
  std::string layout;
  std::string course, extensions;
  std::vector<std::string> times;
  std::string due;
  std::string attempt;
  std::string key;
  std::optional<double> late_percent;
  std::optional<std::int64_t> grace_minutes;
  int jobs = 0;
  int quarantine_after = 2;
  bool resume = false;
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
