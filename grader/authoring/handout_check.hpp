// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A handout for its readers: how much there is to read before a task, words that readers
/// stumbled over, terms that are explained before they are used. And beside what it shows: links,
/// figures, experiments, and code, which is cut from the real files and must stay equal to them. A
/// snippet is
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
#include "grader/report/handout.hpp"

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

/// What a reader of the course meets in this lab: phrases that readers stumbled over, in its pages
/// and its skeleton; more words before the first task, or before the end, than one wants to read;
/// and a term that is used before this handout, or that of one of the labs `before` it, has
/// explained it: in bold, in the same paragraph at the latest. Pages unfold terms too, but a
/// terminal, a notebook and paper do not. What a fold explains counts until the fold ends;
/// headings, captions and code are not looked at.
void check_reading(const LabFolders& folders, const std::vector<LabFolders>& before,
                   const std::vector<report::Term>& terms, Drifts& drifts);

/// Rewrites each snippet from the file it quotes; the number of snippets that changed.
[[nodiscard]] base::Result<int> fix_snippets(const std::filesystem::path& root,
                                             const std::filesystem::path& handout);

}  // namespace membound::authoring
