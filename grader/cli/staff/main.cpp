// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound's commands, one file each. Exit codes: 0 passed, 1 not passed, 2 wrong use, 3 our
/// fault.
#include <exception>

#include "grader/cli/action.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/error_output.hpp"

int main(int argc, char** argv) {
  using namespace membound::cli;
  try {
    CommandLine line;

    add_student_commands(line);
    line.add(add_completion);  // for bash, zsh, fish

    // For instructors
    line.add(add_grade);                  // a class, unattended
    line.add(add_explain);                // one verdict again
    line.add(add_report);                 // the class as pages
    line.add(add_export);                 // grades for a learning platform
    line.add(add_release);                // the course as students get it
    line.add(add_gradescope_autograder);  // the zip with which Gradescope grades
    line.add(add_autograde);              // one submission in such a container

    // For authors
    line.add(add_dev);       // does a lab agree with itself
    line.add(add_selftest);  // does this installation withstand what students may try

    return line.run(argc, argv);
  } catch (const std::exception& error) {
    return report_exception(error);
  }
}
