// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How far a student is with the course, as a page: what `membound progress` draws in the
/// terminal.
#pragma once

#include <string>
#include <vector>

#include "grader/report/text.hpp"

namespace membound::report {

/// One stage, as far as somebody has come with it.
struct StageProgress {
  int number = 0;
  std::string title;
  std::string words;  ///< "passed", "too slow, 0.67 of 0.75"
  Tone tone = Tone::kPlain;
  double points = 0, max_points = 0;
  bool is_next = false;
};

/// A lab, and the stages in their order.
struct LabProgress {
  std::string id, title;
  std::vector<StageProgress> stages;
};

/// The page; it needs nothing beside it. `next` says what to do now, a line each.
[[nodiscard]] std::string progress_page(const std::vector<LabProgress>& labs,
                                        const std::string& next);

}  // namespace membound::report
