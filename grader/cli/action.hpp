// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// How commands hang together: each adds itself to the command line and, when it is the one that
/// was given, says what is to be done. main() then does it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace membound::cli {

/// The program's exit codes.
inline constexpr int kExitPassed = 0;
inline constexpr int kExitNotPassed = 1;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitOurFault = 3;
/// Ended by Ctrl-C, as shells count it.
inline constexpr int kExitInterrupted = 130;

/// What a command does; returns the exit code.
using Action = std::function<int()>;

void add_list(CLI::App& app, Action& chosen);
void add_predict(CLI::App& app, Action& chosen);
void add_check(CLI::App& app, Action& chosen);
void add_watch(CLI::App& app, Action& chosen);
void add_profile(CLI::App& app, Action& chosen);
void add_ptx(CLI::App& app, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);
void add_experiment(CLI::App& app, Action& chosen);
void add_hint(CLI::App& app, Action& chosen);
void add_reset(CLI::App& app, Action& chosen);
void add_handout(CLI::App& app, Action& chosen);
void add_progress(CLI::App& app, Action& chosen);
void add_next(CLI::App& app, Action& chosen);
void add_solution(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
#define STAFF_COMMAND(id, name) void add_##id(CLI::App& app, Action& chosen);
#include "grader/cli/staff_commands.def"
/// Subcommands of dev.
void add_dev_ladder(CLI::App& dev, Action& chosen);
void add_dev_verdicts(CLI::App& dev, Action& chosen);
void add_dev_keep_skeletons(CLI::App& dev, Action& chosen);
void add_dev_figure(CLI::App& dev, Action& chosen);
void add_dev_wrong(CLI::App& dev, Action& chosen);
/// Subcommands of machine.
void add_machine_calibrate(CLI::App& machine, Action& chosen);

}  // namespace membound::cli
