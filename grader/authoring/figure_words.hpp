// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A figure names the command that made it, as an XML processing instruction behind the license:
///   <?membound-figure 03-transpose --stage 1 --line "out[at(" --size 256x256?>
/// so that `membound dev check` can make it again and see whether it is still true.
/// Place in the chain: figure -> [figure_words] -> file -> figure_drift.
#pragma once

#include <string>

#include "grader/authoring/figure.hpp"

namespace membound::authoring {

/// The instruction's line. Options that have their default are left out, and so are machine
/// matters: --compiler.
[[nodiscard]] std::string figure_mark(const FigureOptions& options);

}  // namespace membound::authoring
