// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every command needs: where the course, the build and the student's state are, how to
/// print, errors on their way out, Ctrl-C, and HTML pages shown in the browser where there is
/// one.
#pragma once

#include <atomic>
#include <exception>
#include <filesystem>
#include <string>

#include "grader/base/result.hpp"
#include "grader/course/course_tree.hpp"
#include "grader/judge/judge.hpp"
#include "grader/judge/student_progress.hpp"
#include "grader/report/profile_text.hpp"
#include "grader/report/result_page.hpp"
#include "grader/report/text.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace membound::cli {

/// From now on SIGINT, SIGTERM and SIGHUP set the flag instead of ending the program; a second one
/// ends it at once (its children go with it).
const std::atomic<bool>* catch_interrupts();

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
  /// Where the last check of a stage left what its kernel made of a picture: a PNG, for few stages.
  [[nodiscard]] std::filesystem::path picture_of(const std::string& lab, int stage) const {
    return place.state / "pictures" / lab / (std::to_string(stage) + ".png");
  }
  /// The same as messages show it.
  [[nodiscard]] std::string shown_kernel_of(const course::Lab& lab) const {
    return lab.tree.empty() ? "labs/" + lab.id + "/kernel.cu" : kernel_of(lab).string();
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

/// The lab in whose folder, or below it, the command was called; null elsewhere.
[[nodiscard]] const course::Lab* lab_here(const Context& context);

/// That lab; elsewhere the first lab of which some stages have passed and some have not; else the
/// first of which none has; the last one if all have passed.
[[nodiscard]] const course::Lab& current_lab(const Context& context);

/// Prints "membound: …" and returns the error's exit code.
int report_error(const base::Error& error);
/// The same for what no command expected: a full disk, no memory.
int report_exception(const std::exception& error);
/// Writes out what stands in standard output's buffer; an error if some of the output was lost.
[[nodiscard]] base::Status finish_output();
/// A remark that is no error: "membound: note: …".
void report_note(const std::string& text);

/// Where the checks of a stage that were remembered on this device, "vgpu:h200", lie on its
/// roofline.
[[nodiscard]] std::vector<course::RooflineDot> dots_on(const std::string& device,
                                                       const judge::StageState& state);

/// What is asked for; nothing by default.
struct PageOptions {
  std::string html;   ///< the file to write; empty: one below .membound, if `open`
  bool open = false;  ///< show it
  [[nodiscard]] bool wanted() const { return open || !html.empty(); }
};

/// Adds --html and --open.
void add_page_options(CLI::App& command, PageOptions& options);

/// Hands a page to the desktop's browser; false where there is none.
[[nodiscard]] bool open_in_browser(const std::filesystem::path& file);

/// The lines of a file; none where it cannot be read.
[[nodiscard]] report::SourceText read_source(const std::filesystem::path& file);

/// Writes a page, to a file called `name` below .membound where no other was asked for, says where
/// it is, and opens it if that was asked for.
[[nodiscard]] base::Status put_page(const Context& context, const PageOptions& options,
                                    const std::string& name, const std::string& html);

/// Writes the page of `result`, whose kernels stand in `source`, as above; pictures and dots are
/// added to its parts.
[[nodiscard]] base::Status make_page(const Context& context, const PageOptions& options,
                                     const course::Result& result,
                                     const std::filesystem::path& source,
                                     report::PageParts parts = {});

}  // namespace membound::cli
