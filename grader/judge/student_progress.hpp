// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What Membound remembers of a student's work between two calls: the last result of each stage,
/// the best points, and the hints used, one small file per stage, `state/<lab>/<number>.json`; and
/// which of a lab's hints comes next.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/lab_result.hpp"

namespace membound::judge {

/// The memory of one stage.
struct StageState {
  std::optional<course::StageResult> last;  ///< without raw samples and traces
  std::string checked_at;                   ///< UTC
  std::string submission_sha256;
  std::string compiler;  ///< of the last check: "nvcc 13.0.88"
  double best_points = 0;
  bool ever_passed = false;
  std::map<std::string, int> hints_used;  ///< by tag: tiers shown
  std::optional<double> predicted;        ///< what the student said to the stage's question
  /// Of the last checks that found something new, oldest first.
  std::vector<course::RooflineDot> history;
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
  /// Forgets a stage, until it is brought back.
  void forget(const std::string& lab, int stage) const;
  /// What was forgotten last is known again, unless more points have been reached since.
  void bring_back(const std::string& lab, int stage) const;

 private:
  std::filesystem::path folder_;
};

/// A hint that can be shown.
struct Hint {
  std::string tag;
  std::string text;
  int number = 0;       ///< from 1, over all that the last result calls for
  int count = 0;        ///< how many these are
  bool is_new = false;  ///< not shown before: `tier` is to be remembered under `key`
  std::string key;      ///< of StageState::hints_used: the lab's tag, or what a checker said
  int tier = 0;         ///< from 1, of the hints under `key`
};

/// The tag of the most telling finding that has one; empty when there is none.
[[nodiscard]] std::string hint_tag(const course::StageResult& result);

/// A tier of a hint as a stage is told it: what stands after "Stage 2: " or "Stages 1, 2 and 4: "
/// is for these stages alone, what stands before the first such head for all.
[[nodiscard]] std::string hint_for_stage(const std::string& tier, int stage);

/// What a checker said of the last result, once for each thing said; then the next tier of the hint
/// that the stage's last result calls for, or the last tier again when all are used. An error says
/// why there is none: never checked, passed, or nothing fits.
[[nodiscard]] base::Result<Hint> next_hint(const course::Lab& lab, const course::Stage& stage,
                                           const StageState& state);

}  // namespace membound::judge
