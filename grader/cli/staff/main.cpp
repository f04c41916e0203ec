// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound's commands, one file each. Exit codes: 0 passed, 1 not passed, 2 wrong use, 3 our
/// fault.
#include <exception>

#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"

int main(int argc, char** argv) {
  using namespace membound::cli;
  try {
    CommandLine line;

    add_student_commands(line);
#define STAFF_COMMAND(id, name) line.add(add_##id);
#include "grader/cli/staff_commands.def"
    return line.run(argc, argv);
  } catch (const std::exception& error) {
    return report_exception(error);
  }
}
