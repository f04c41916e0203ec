// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// One verdict again: the same text and the same seed; and what differs.
/// Place in the chain: cli explain, spot_check -> [replay] -> one_submission.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
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

}  // namespace membound::queue
