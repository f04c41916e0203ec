// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/command_context.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include "grader/cli/error_output.hpp"

namespace membound::cli {
namespace {

namespace fs = std::filesystem;

base::Error no_course(const std::string& where) {
  return {base::ErrorKind::kUsage, where, "there is no course here",
          "a folder with labs/ and CMakePresets.json, here or above",
          "go to the course's folder, or set MEMBOUND_ROOT to it"};
}

/// Whether files can be made in `folder`, which is made if it is not there.
bool usable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  return !error && access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

base::Result<fs::path> course_root() {
  std::error_code error;
  if (const char* root = std::getenv("MEMBOUND_ROOT"); root != nullptr && *root != '\0') {
    if (fs::is_directory(fs::path(root) / "labs", error)) return fs::path(root);
    return no_course(std::string("MEMBOUND_ROOT=") + root);
  }
  const fs::path here = fs::current_path(error);
  if (const auto root = course::find_root(here)) return *root;
  return no_course(here.string());
}

fs::path build_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

fs::path state_folder(const fs::path& root) {
  const fs::path preferred = root / ".membound";
  if (usable(preferred)) return preferred;
  std::error_code error;
  const fs::path other = fs::temp_directory_path(error) / ("membound-" + std::to_string(getuid()));
  report_note(preferred.string() + " cannot be written; progress is kept in " + other.string());
  return other;
}

base::Result<Context> make_context() {
  const auto root = course_root();
  if (!root) return root.error();
  auto course = course::read_course(*root);
  if (!course) return course.error();
  if (course->labs.empty()) return no_course((*root / "labs").string());
  Context context;
  context.place = {*root, build_folder(), state_folder(*root)};
  context.course = std::move(*course);
  context.out = report::Style::for_stream(STDOUT_FILENO);
  context.err = report::Style::for_stream(STDERR_FILENO);
  context.out_is_terminal = isatty(STDOUT_FILENO) != 0;
  context.err_is_terminal = isatty(STDERR_FILENO) != 0;
  return context;
}

int current_stage(const Context& context, const course::Lab& lab) {
  for (const course::Stage& stage : lab.stages)
    if (!context.states().read(lab.id, stage.number).ever_passed) return stage.number;
  return lab.stages.back().number;
}

const course::Lab& current_lab(const Context& context) {
  const course::Lab* untouched = nullptr;
  for (const course::Lab& lab : context.course.labs) {
    const auto passed =
        std::count_if(lab.stages.begin(), lab.stages.end(), [&](const course::Stage& stage) {
          return context.states().read(lab.id, stage.number).ever_passed;
        });
    if (passed > 0 && passed < std::ssize(lab.stages)) return lab;
    if (passed == 0 && untouched == nullptr) untouched = &lab;
  }
  return untouched == nullptr ? context.course.labs.back() : *untouched;
}

}  // namespace membound::cli
