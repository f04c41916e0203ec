// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Passes that a virtual GPU predicted, timed again on another device, most often a real GPU.
/// Verdicts stay as they are: a person decides about what differs.
/// Place in the chain: cli grade --spot-check -> [spot_check] -> replay.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/course/grade.hpp"

namespace membound::queue {

/// A stage whose speed was predicted, and what was measured. Ratios are to the reference answer.
struct RetimedStage {
  int stage = 0;
  double bar = 0;  ///< the ratio that a pass needs
  std::optional<double> predicted, measured;
  course::Verdict verdict = course::Verdict::kPassed;  ///< there

  /// Passed there as well.
  [[nodiscard]] bool holds() const { return verdict == course::Verdict::kPassed; }
};

/// A pass and its repetition.
struct Retimed {
  std::string student, lab, device;
  std::vector<RetimedStage> stages;
  std::string problem;  ///< why there is no repetition; empty where there is one

  [[nodiscard]] bool holds() const;
};

/// Up to `count` passes of different texts that were graded on a virtual GPU: first those that the
/// grader itself would have looked at, then others as `draw`, a text that students do not know,
/// orders them.
[[nodiscard]] std::vector<const course::Grade*> passes_to_retime(
    const std::vector<course::Grade>& grades, std::size_t count, const std::string& draw);

/// What a repetition says about the stages that were timed.
[[nodiscard]] Retimed compare_times(const course::Grade& predicted, const course::Grade& measured);

/// Grades one again under `settings`, whose device is another. A submission that cannot be repeated
/// is a Retimed with a problem.
[[nodiscard]] Retimed retime(const std::filesystem::path& out, const course::Grade& predicted,
                             const Settings& settings, const std::atomic<bool>* stop,
                             const std::function<void(const std::string&)>& on_step);

/// OUT/spot-check.csv: a row for each stage.
[[nodiscard]] std::string spot_check_csv(const std::vector<Retimed>& all);

}  // namespace membound::queue
