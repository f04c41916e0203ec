// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handout beside what it shows: links, figures, experiments, and code, which is cut from the
/// real files and must stay equal to them. A snippet is
///
///     <!-- snippet: solutions/03-transpose/kernel.cu#stage-4 -->
///     ```cpp
///     …
///     ```
///
/// where `#stage-4` means the code of stage 4 without its head comment (from the first line
/// after the comment that opens with "// Stage 4" up to the next stage), and `#name` the lines
/// between "// [name]" and "// [/name]".
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "grader/authoring/lab_check.hpp"
#include "grader/base/result.hpp"

namespace membound::authoring {

/// The lines a snippet quotes, without empty lines at either end and with common indentation
/// taken off; nothing if the region is not in the file.
[[nodiscard]] std::optional<std::vector<std::string>> region_of(
    const std::vector<std::string>& lines, const std::string& name);

/// Adds a drift for each snippet of `handout` whose region is missing or differs.
void check_snippets(const LabFolders& folders, const std::filesystem::path& handout,
                    Drifts& drifts);

/// Each experiment is in a section of the handout, which says how it is run.
void check_experiments(const LabFolders& folders, Drifts& drifts);

/// Links and figures resolve, figures are well-formed SVG and all are shown, snippets are equal to
/// what they quote.
void check_handout(const LabFolders& folders, Drifts& drifts);

/// The notebook of the lab can be made: report::handout_notebook() says of what.
void check_notebook(const course::Lab& lab, const LabFolders& folders, Drifts& drifts);

/// Rewrites each snippet from the file it quotes; the number of snippets that changed.
[[nodiscard]] base::Result<int> fix_snippets(const std::filesystem::path& root,
                                             const std::filesystem::path& handout);

}  // namespace membound::authoring
