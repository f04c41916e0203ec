// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The run that a figure is drawn of.
/// Place in the chain: figure -> [figure_run] -> judge.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/authoring/figure.hpp"
#include "grader/course/kernel_profile.hpp"

namespace membound::authoring {

/// What a run left, and whose source its lines are.
struct Traced {
  std::vector<course::KernelProfile> profiles;
  std::filesystem::path source;  ///< the answer's file; empty for a counters file
  std::string subject;           ///< "03-transpose, stage 1"
};

[[nodiscard]] base::Error input_error(std::string where, std::string found, std::string expected,
                                      std::string advice);

/// Runs the answer that `options` name, and traces the warp.
[[nodiscard]] base::Result<Traced> run_lab(const judge::Workplace& place,
                                           const course::Course& course,
                                           const FigureOptions& options);

/// What an earlier run wrote.
[[nodiscard]] base::Result<Traced> read_counters(const FigureOptions& options);

}  // namespace membound::authoring
