// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every command needs to know: where the course, the build and the student's state are, and
/// how to print.
/// Place in the chain: environment -> [command_context] -> commands.
#pragma once

#include <filesystem>
#include <string>

#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/state.hpp"
#include "grader/report/style.hpp"

namespace membound::cli {

/// One call of the program.
struct Context {
  judge::Workplace place;
  course::Course course;
  report::Style out;  ///< for standard output
  report::Style err;  ///< for standard error
  bool out_is_terminal = false;
  bool err_is_terminal = false;

  [[nodiscard]] judge::StateFolder states() const {
    return judge::StateFolder(place.state / "state");
  }
  /// "labs/03-transpose/kernel.cu".
  [[nodiscard]] std::filesystem::path kernel_of(const course::Lab& lab) const {
    return lab.folder / "kernel.cu";
  }
};

/// MEMBOUND_ROOT (set by the launcher), else found from the current folder upwards.
[[nodiscard]] base::Result<std::filesystem::path> course_root();

/// The folder whose bin/ holds this program.
[[nodiscard]] std::filesystem::path build_folder();

/// root/.membound, or a folder below the temporary one where the course cannot be written; then a
/// note says so.
[[nodiscard]] std::filesystem::path state_folder(const std::filesystem::path& root);

/// Everything together.
[[nodiscard]] base::Result<Context> make_context();

/// The first stage of `lab` that has not been passed yet; the last one if all are.
[[nodiscard]] int current_stage(const Context& context, const course::Lab& lab);

/// The first lab of which some stages have passed and some have not; else the first of which none
/// has; the last one if all have passed.
[[nodiscard]] const course::Lab& current_lab(const Context& context);

}  // namespace membound::cli
