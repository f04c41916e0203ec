// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound grade --spot-check DEVICE:N
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// What it asks for.
struct SpotCheck {
  queue::Settings settings;  ///< of the other device
  std::size_t passes = 0;    ///< that are timed there, at most
};

/// `word`: "gpu:5"; empty: nothing is asked for. `options` and `graded` are the batch's; `trust`:
/// --trust-submissions.
[[nodiscard]] base::Result<std::optional<SpotCheck>> read_spot_check(const std::string& word,
                                                                     judge::CheckOptions options,
                                                                     bool trust,
                                                                     const queue::Settings& graded,
                                                                     const Context& context);

/// Where a batch is, and its key.
struct GradedBatch {
  std::filesystem::path out, key_file;
};

/// Times passes of the batch again, writes OUT/spot-check.csv and tells what does not hold there.
/// The exit code.
[[nodiscard]] int run_spot_check(const SpotCheck& check, const GradedBatch& batch,
                                 const Context& context);

}  // namespace membound::cli
