// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The command line: the commands there are, what the values of their options must be, their
/// help, and what is wrong with a line. What commands do stands in their own files.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "grader/base/result.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace membound::cli {

// How commands hang together: each adds itself to the command line and, when it is the one that
// was given, says what is to be done. main() then does it.

/// The program's exit codes.
inline constexpr int kExitPassed = 0;
inline constexpr int kExitNotPassed = 1;
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitOurFault = 3;
/// Ended by Ctrl-C, as shells count it.
inline constexpr int kExitInterrupted = 130;

/// What a command does; returns the exit code.
using Action = std::function<int()>;

/// " --labs DIR" for each that stood in this line, as it was typed; a command that is advised next
/// has it too. Empty where MEMBOUND_LABS alone names folders of labs.
[[nodiscard]] const std::string& typed_labs();

/// membound without a word: what it is, where the student is, the next command, on one screen.
int show_first_screen();

void add_start(CLI::App& app, Action& chosen);
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
void add_hand_in(CLI::App& app, Action& chosen);
void add_report_bug(CLI::App& app, Action& chosen);
void add_completion(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
#define STAFF_COMMAND(id, name) void add_##id(CLI::App& app, Action& chosen);
#include "grader/cli/staff_commands.def"
/// Subcommands of dev.
void add_dev_ladder(CLI::App& dev, Action& chosen);
void add_dev_figures(CLI::App& dev, Action& chosen);
void add_dev_verdicts(CLI::App& dev, Action& chosen);
void add_dev_mechanisms(CLI::App& dev, Action& chosen);
void add_dev_keep_skeletons(CLI::App& dev, Action& chosen);
void add_dev_figure(CLI::App& dev, Action& chosen);
void add_dev_wrong(CLI::App& dev, Action& chosen);
void add_dev_new(CLI::App& dev, Action& chosen);
/// Subcommands of machine.
void add_machine_calibrate(CLI::App& machine, Action& chosen);

// What the values of options must be. CLI11 would say it in words of its own.

/// A value that an option does not take; thrown while CLI11 reads the command line.
struct WrongValue {
  std::string option;  ///< "--seed"
  std::string value;
  std::string expected;
};

/// The option's value must be one of `words`.
void takes_one_of(CLI::Option& option, std::vector<std::string> words);

/// It must be digits alone that make a number from `low` to `high`.
void takes_whole(CLI::Option& option, std::uint64_t low = 0,
                 std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

/// It must be a number from `low` to `high`.
void takes_number(CLI::Option& option, double low, double high);

/// The Markdown of `help/<name>.md`; our own bug when there is none.
[[nodiscard]] std::string_view help_text(std::string_view name);

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
  /// As these words with --help after them.
  int show_help(const std::vector<std::string>& words);
  int complain(const std::string& found, const std::string& word) const;

  std::unique_ptr<CLI::App> app_;
  Action chosen_;
};

/// The contents page of the students' program; staff/main.cpp has that of the whole one.
void add_student_commands(CommandLine& line);

/// Whether lists and suggestions name the command: those of instructors and authors only where they
/// are, so not in a course that was handed out.
[[nodiscard]] bool is_offered(const CLI::App& command);

/// Becomes the whole program, build folder/bin/membound, called with these words; returns where
/// there is none.
void become_whole_program(std::vector<std::string> words);

/// "check", "dev-check", …: the help page of a (sub)command; "membound" for the program.
[[nodiscard]] std::string help_page_name(const CLI::App& app);

}  // namespace membound::cli
