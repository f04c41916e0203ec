// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What Membound remembers of a student's work between two calls: the last result of each stage,
/// the best points, and the hints used. One small file per stage, `state/<lab>/<number>.json`.
/// Place in the chain: verdict -> [state] -> list, hint, watch. Left out: grading, which keeps a
/// ledger of its own.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "grader/base/result.hpp"
#include "grader/course/lab_result.hpp"

namespace membound::judge {

/// The memory of one stage.
struct StageState {
  std::optional<course::StageResult> last;  ///< without raw samples and traces
  std::string checked_at;                   ///< UTC
  std::string submission_sha256;
  double best_points = 0;
  bool ever_passed = false;
  std::map<std::string, int> hints_used;  ///< by tag: tiers shown
  std::optional<double> predicted;        ///< what the student said to the stage's question
};

/// Reads and writes them below one folder.
class StateFolder {
 public:
  explicit StateFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// An empty state when there is none, or when the file is broken: progress is worth keeping, but
  /// never worth an error.
  [[nodiscard]] StageState read(const std::string& lab, int stage) const;
  [[nodiscard]] base::Status write(const std::string& lab, int stage,
                                   const StageState& state) const;
  /// Remembers every stage of a result, keeping hints and best points.
  [[nodiscard]] base::Status remember(const course::Result& result) const;
  /// Forgets a lab's stages, or one of them.
  void forget(const std::string& lab) const;
  void forget(const std::string& lab, int stage) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace membound::judge
