// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Are the figures that `dev figure` once made still what the kernels do, or what their
/// descriptions say?
/// Place in the chain: dev_check_command -> [figure_drift] -> figure.
#pragma once

#include <vector>

#include "grader/authoring/drift.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::authoring {

/// What came of a lab's figures.
struct FigureCheck {
  std::vector<Drift> drifts;
  int rewritten = 0;
};

/// Draws each described figure of the lab's handout again and compares. With `fix` the new one
/// stays. A figure that is neither described nor made by a run is a drift. Needs no device.
[[nodiscard]] FigureCheck check_drawings(const judge::Workplace& place, const course::Lab& lab,
                                         bool fix);

/// The same for each figure that a run made; an error where nothing can be run.
[[nodiscard]] base::Result<FigureCheck> check_figures(const judge::Workplace& place,
                                                      const course::Course& course,
                                                      const course::Lab& lab, bool fix);

}  // namespace membound::authoring
