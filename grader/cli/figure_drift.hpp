// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Are the figures that `dev figure` once made still what the kernels do?
/// Place in the chain: dev_check -> [figure_drift] -> figure.
#pragma once

#include <vector>

#include "grader/cli/context.hpp"
#include "grader/drift/drift.hpp"

namespace membound::cli {

/// What came of a lab's figures.
struct FigureCheck {
  std::vector<drift::Drift> drifts;
  int checked = 0;
  int rewritten = 0;
};

/// Makes each marked figure of the lab's handout again and compares. With `fix` the new one stays.
[[nodiscard]] base::Result<FigureCheck> check_figures(const Context& context,
                                                      const course::Lab& lab, bool fix);

}  // namespace membound::cli
