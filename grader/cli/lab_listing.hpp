// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Labs and stages with how far the student is, as text: for `list` and `watch`.
#pragma once

#include <string>

#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// One line a lab, the sum, and what comes next.
[[nodiscard]] std::string course_listing(const Context& context);

/// A lab with one line a stage.
[[nodiscard]] std::string lab_listing(const Context& context, const course::Lab& lab);

}  // namespace membound::cli
