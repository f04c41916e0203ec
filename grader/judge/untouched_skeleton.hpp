// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a lab's untouched kernel.cu comes from, whatever the student did to the file, committed or
/// not.
#pragma once

#include <string>
#include <string_view>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/judge/workplace.hpp"

namespace membound::judge {

/// Whether `text` can be the skeleton of `solution`: it has a TODO, and without comments all its
/// lines stand in the solution in the same order (solving only adds lines).
[[nodiscard]] bool is_skeleton_of(std::string_view text, std::string_view solution);

/// The copy that came with a student's tree; else the newest version in git's history, else the
/// build's copy, that is a skeleton of the reference answer.
[[nodiscard]] base::Result<std::string> find_skeleton(const Workplace& place,
                                                      const course::Lab& lab);

/// Puts the skeleton into the build folder, where find_skeleton() looks after git. Never a text
/// that somebody worked on.
[[nodiscard]] base::Status keep_skeleton(const Workplace& place, const course::Lab& lab);

}  // namespace membound::judge
