// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One verdict again: the same text and the same seed, and what differs. Or on another device, most
/// often a real GPU, passes that a virtual GPU predicted; verdicts stay as they are then, and a
/// person decides about what differs.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/classroom/queue/grading_settings.hpp"
#include "grader/course/grade.hpp"

namespace membound::queue {

/// A recorded grade and its repetition.
struct Replay {
  course::Grade recorded;
  course::Grade repeated;
  /// What is not as it was when the verdict was made: "the lab's lab.json changed".
  std::vector<std::string> changed;
  /// Where the two results differ, stage by stage; empty: the verdict is repeated exactly.
  std::vector<std::string> differences;
};

/// The recorded grades that `student` (and `lab`, unless empty) mean, in the batch at `out`.
[[nodiscard]] base::Result<std::vector<course::Grade>> find_grades(
    const std::filesystem::path& out, const std::filesystem::path& key_file,
    const std::string& student, const std::string& lab);

/// Grades it again under `settings`. Only a virtual device can repeat every digit.
[[nodiscard]] base::Result<Replay> replay(const std::filesystem::path& out,
                                          const course::Grade& recorded, Settings settings,
                                          const std::atomic<bool>* stop,
                                          const std::function<void(const std::string&)>& on_step);

/// Where two results differ, seconds aside.
[[nodiscard]] std::vector<std::string> differences(const course::Result& recorded,
                                                   const course::Result& repeated);

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
