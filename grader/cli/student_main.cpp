// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound-student: the students' commands alone, so that a first check need not wait for what
/// grades a class. Any other command is handed to the whole program beside it (staff/main.cpp).
#include <CLI/CLI.hpp>
#include <exception>
#include <filesystem>
#include <vector>

#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"

namespace membound::cli {
namespace {

/// Returns only if there is no such program.
int hand_over(std::vector<std::string> words) {
  const std::string name = words.front();
  become_whole_program(std::move(words));
  const auto root = course_root();
  std::error_code ignored;
  if (root && std::filesystem::exists(*root / "grader/cli/staff", ignored))
    return report_error({base::ErrorKind::kMachine, "membound " + name,
                         "is not built yet: it is no students' command",
                         (build_folder() / "bin" / "membound").string(),
                         "./membound " + name + ", which builds it"});
  if (name == "dev")
    return report_error({base::ErrorKind::kUsage, "membound dev",
                         "is for authors of labs: students have no need of it",
                         "Membound's repository, which has the answers that it reads",
                         "membound check LAB, which measures your own answer"});
  return report_error({base::ErrorKind::kUsage, "membound " + name,
                       "is no students' command, and is not installed here",
                       "a clone of the course", "membound --help, which lists what is here"});
}

void add_staff_commands(CLI::App& app, Action& chosen) {
  for (const char* name : {
#define STAFF_COMMAND(id, name) name,
#include "grader/cli/staff_commands.def"
       }) {
    CLI::App* const command = app.add_subcommand(name, "")->prefix_command();
    // The build itself calls it.
    if (command->get_name() == "dev") add_dev_keep_skeletons(*command, chosen);
    command->callback([command, &chosen] {
      if (!command->get_subcommands().empty()) return;
      std::vector<std::string> words = command->remaining();
      words.insert(words.begin(), command->get_name());
      chosen = [words] { return hand_over(words); };
    });
  }
}

}  // namespace
}  // namespace membound::cli

int main(int argc, char** argv) {
  using namespace membound::cli;
  try {
    CommandLine line;
    add_student_commands(line);
    line.add(add_staff_commands);
    return line.run(argc, argv);
  } catch (const std::exception& error) {
    return report_exception(error);
  }
}
