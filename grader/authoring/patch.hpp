// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A unified diff, applied strictly: every line of it that stands in the old text must be
/// there, letter by letter. A hunk that has moved with the lines around it is found where its
/// lines stand now, if that is one place. Diffs of several files are not read, and none are
/// made: `diff -U1` makes them.
#pragma once

#include <string>
#include <string_view>

#include "grader/base/result.hpp"

namespace membound::authoring {

/// What a diff makes of a text.
struct Patched {
  std::string text;
  int changed_lines = 0;  ///< removed and added
};

/// Applies `diff`, which starts with its first "@@", to `old_text`. Messages call the diff's lines
/// `name`:`first_line` and on. An error: a hunk whose head or counts are wrong, a line that is none
/// of a diff, a hunk whose lines are not in the old text or stand there more than once.
[[nodiscard]] base::Result<Patched> apply_diff(std::string_view old_text, std::string_view diff,
                                               const std::string& name, int first_line = 1);

}  // namespace membound::authoring
