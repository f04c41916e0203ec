// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reads the command line, prints help, and says what is wrong with it.
/// Place in the chain: main -> [command_line] -> one command. Left out: what commands do.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grader/cli/action.hpp"

namespace membound::cli {

/// All commands of the program.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  void add(void (*command)(CLI::App&, Action&)) { command(*app_, chosen_); }
  /// Parses, runs the command that was given, returns the exit code; 3 if not all of its output
  /// could be written.
  int run(int argc, const char* const* argv);

  /// For tests and completion: the application with everything added.
  [[nodiscard]] const CLI::App& app() const { return *app_; }

 private:
  int run_words(int argc, const char* const* argv);
  /// As these words with --help behind them.
  int show_help(const std::vector<std::string>& words);
  int complain(const std::string& found, const std::string& word) const;

  std::unique_ptr<CLI::App> app_;
  Action chosen_;
};

/// The contents page of the students' program; staff/main.cpp has that of the whole one.
void add_student_commands(CommandLine& line);

/// "check", "dev-check", …: the help page of a (sub)command; "membound" for the program.
[[nodiscard]] std::string help_page_name(const CLI::App& app);

}  // namespace membound::cli
