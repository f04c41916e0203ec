// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Which of a lab's hints a result calls for. Pure.
#pragma once

#include <string>

#include "grader/course/lab.hpp"
#include "grader/judge/state.hpp"

namespace membound::judge {

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

/// A tier of a hint as a stage is told it: what stands behind "Stage 2: " or "Stages 1, 2 and 4: "
/// is for these stages alone, what stands before the first such head for all.
[[nodiscard]] std::string hint_for_stage(const std::string& tier, int stage);

/// What a checker said of the last result, once for each thing said; then the next tier of the hint
/// that the stage's last result calls for, or the last tier again when all are used. An error says
/// why there is none: never checked, passed, or nothing fits.
[[nodiscard]] base::Result<Hint> next_hint(const course::Lab& lab, const course::Stage& stage,
                                           const StageState& state);

}  // namespace membound::judge
