// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A figure from its description, `handouts/LAB/figures/NAME.yml`: shapes with sums for places,
/// repeated where they repeat, in the colours of drawing_looks.def. docs/drawing_figures.md is
/// the reference.
#pragma once

#include <filesystem>
#include <string>

#include "grader/base/result.hpp"

namespace membound::authoring {

/// The SVG picture of the description `text`. `name` stands before the line in messages; tables of
/// its facts are below `root`.
[[nodiscard]] base::Result<std::string> draw_description(const std::string& text,
                                                         const std::string& name,
                                                         const std::filesystem::path& root);

}  // namespace membound::authoring
