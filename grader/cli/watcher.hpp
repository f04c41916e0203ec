// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The loop of membound watch over three kinds of events: a saved file, a pressed key, a window of
/// another size.
/// Place in the chain: watch_command -> [watcher] -> checking, file_watch, keyboard, screen.
#pragma once

#include "grader/cli/command_context.hpp"
#include "grader/cli/file_watch.hpp"
#include "grader/judge/tools.hpp"

namespace membound::cli {

/// Checks `lab`'s stage now and each time `file` is saved, until somebody wants to quit; the exit
/// code.
[[nodiscard]] int watch(const Context& context, const judge::CheckOptions& options,
                        const course::Lab& lab, int stage, const judge::Tools& tools,
                        FileWatch file);

}  // namespace membound::cli
