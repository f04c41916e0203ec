// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The next hint of a stage, as text: for `hint` and `watch`.
#pragma once

#include <string>

#include "grader/base/result.hpp"
#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// Remembers the hint as used.
[[nodiscard]] base::Result<std::string> hint_text(const Context& context, const course::Lab& lab,
                                                  const course::Stage& stage);

}  // namespace membound::cli
