// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Are the figures that `dev figure` once made still what the kernels do?
/// Place in the chain: dev_check -> [figure_drift] -> figure.
#pragma once

#include <vector>

#include "grader/authoring/drift.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/judge/judge.hpp"

namespace membound::authoring {

/// What came of a lab's figures.
struct FigureCheck {
  std::vector<Drift> drifts;
  int checked = 0;
  int rewritten = 0;
};

/// Makes each marked figure of the lab's handout again and compares. With `fix` the new one stays.
[[nodiscard]] base::Result<FigureCheck> check_figures(const judge::Workplace& place,
                                                      const course::Course& course,
                                                      const course::Lab& lab, bool fix);

}  // namespace membound::authoring
