// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One kernel, or two, on several GPUs: a table for the terminal and a picture.
#pragma once

#include <string>
#include <vector>

#include "grader/course/lab_result.hpp"
#include "grader/report/text.hpp"

namespace membound::report {

/// One kernel on one GPU.
struct ComparedRun {
  std::string gpu;         ///< "NVIDIA H200"
  std::string generation;  ///< "Hopper"
  std::string answer;      ///< whose kernel, "yours"; empty where only one is compared
  course::StageResult stage;
};

/// What sets a stage's pace: the bound of the kernel that takes longest in its slowest case; empty
/// where nothing was predicted.
[[nodiscard]] std::string binding_of(const course::StageResult& stage);

/// Of the ceiling that the same model predicts for a copy (or for arithmetic) at that size, 0 to 1;
/// 0 where nothing was timed.
[[nodiscard]] double share_of_ceiling(const course::StageResult& stage);

/// A row a run, in the order given.
[[nodiscard]] std::string comparison_table(const std::vector<ComparedRun>& runs,
                                           const Style& style);

/// A bar a run, as long as its share of its GPU's ceiling: an SVG file of its own.
[[nodiscard]] std::string comparison_picture(const std::vector<ComparedRun>& runs,
                                             const std::string& title);

}  // namespace membound::report
