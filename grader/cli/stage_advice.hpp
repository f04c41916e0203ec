// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What to do next about a stage: read, edit, check.
/// Place in the chain: stage_standing, kernel.cu -> [stage_advice] -> next, progress, watch.
#pragma once

#include <string>

#include "grader/cli/command_context.hpp"

namespace membound::cli {

/// A line each: what to read where the stage has not been begun, what to predict, which line to
/// edit, how to check, and where help is once it was checked.
[[nodiscard]] std::string stage_advice(const Context& context, const course::Lab& lab,
                                       const course::Stage& stage);

}  // namespace membound::cli
