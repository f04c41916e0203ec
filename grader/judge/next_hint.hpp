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
  int tier = 0;         ///< from 1
  int tiers = 0;        ///< how many there are
  bool is_new = false;  ///< not shown before: the tier is to be remembered as used
};

/// The tag of the most telling finding that has one; empty when there is none.
[[nodiscard]] std::string hint_tag(const course::StageResult& result);

/// What a checker said of the last result, once; then the next tier of the hint that the stage's
/// last result calls for, or the last tier again when all are used. An error says why there is
/// none: never checked, passed, or nothing fits.
[[nodiscard]] base::Result<Hint> next_hint(const course::Lab& lab, const course::Stage& stage,
                                           const StageState& state);

}  // namespace membound::judge
