// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A lab's handout as students get it: without its last part, which shows the reference answers.
/// Place in the chain: course_files -> [released_handout] -> student_tree.
#pragma once

#include <string>

#include "grader/classroom/release/tree.hpp"

namespace membound::release {

/// The heading from which on a handout is for those who are done.
inline constexpr const char* kAfterwards = "## After you are done";

/// The text up to that heading, and a sentence in place of the rest.
[[nodiscard]] std::string student_handout(const std::string& text);

/// Shortens handouts/LAB/handout.md, and takes out the files beside it that the rest of it no
/// longer names: pictures of what comes afterwards, programs and experiments to try it with.
void shorten_handout(Tree& tree, const std::string& lab);

}  // namespace membound::release
