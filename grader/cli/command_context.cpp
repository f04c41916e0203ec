// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/command_context.hpp"

#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <sstream>
#include <system_error>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/result.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/report/result_page.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {

int report_error(const base::Error& error) {
  const report::Style style = report::Style::for_stream(STDERR_FILENO);
  std::string text = error.where.empty() ? "" : error.where + ": ";
  text += error.found;
  std::string out = style.paint("membound:", report::Tone::kBad) + " ";
  // The coloured word is nine columns wide, and so is what the rest is wrapped around.
  out += report::wrapped("membound: " + text, style.width, 0).substr(10);
  if (!error.expected.empty())
    out += report::wrapped("expected: " + error.expected, style.width, 2);
  // As all other texts call it: the launcher, from the course's folder.
  const std::string called = error.advice.starts_with("membound ") ? "./" : "";
  if (!error.advice.empty())
    out += report::wrapped("try: " + called + error.advice, style.width, 2);
  std::fputs(out.c_str(), stderr);
  return base::exit_code_of(error.kind);
}

int report_exception(const std::exception& error) {
  report_error({base::ErrorKind::kMachine, "", error.what(), "", "membound doctor"});
  return kExitOurFault;
}

base::Status finish_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return base::Done{};
  const std::string reason = errno == 0 ? "" : ": " + base::reason_text(errno);
  return base::Error{base::ErrorKind::kMachine, "standard output",
                     "not all of it could be written" + reason, "a disk with room, or a terminal",
                     "send the output elsewhere"};
}

void report_note(const std::string& text) {
  const report::Style style = report::Style::for_stream(STDERR_FILENO);
  std::fputs(report::wrapped("membound: note: " + text, style.width, 0).c_str(), stderr);
}

namespace {

// A signal handler can reach nothing else.
std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

}  // namespace

const std::atomic<bool>* catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = true; };
  // Back to the default after the first; no SA_RESTART, so that waiting calls wake up.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaction(number, &action, nullptr);
  return &interrupted;
}

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
  // An installed Membound has no labs but those that MEMBOUND_LABS names.
  const fs::path installed = build_folder();
  if (!course::other_trees().empty() &&
      fs::is_directory(installed / "grader/harness/student", error))
    return installed;
  return no_course(here.string());
}

fs::path build_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path().parent_path();
}

fs::path state_folder(const fs::path& root) {
  const auto trees = course::other_trees();
  const bool is_installed = root == build_folder() && !trees.empty();
  const fs::path preferred = (is_installed ? trees.front() : root) / ".membound";
  if (usable(preferred)) return preferred;
  std::error_code error;
  const fs::path other = fs::temp_directory_path(error) / ("membound-" + std::to_string(getuid()));
  // Said once, also where this program starts itself, as report-bug does: a child inherits the
  // variable.
  constexpr const char* kSaid = "MEMBOUND_SAID_STATE_FOLDER";
  const char* const said = std::getenv(kSaid);
  if (said == nullptr || other != said) {
    report_note(preferred.string() + " cannot be written; progress is kept in " + other.string());
    // NOLINTNEXTLINE(concurrency-mt-unsafe): before there is a second thread
    setenv(kSaid, other.c_str(), 1);
  }
  return other;
}

base::Result<Context> make_context() {
  const auto root = course_root();
  if (!root) return root.error();
  auto course = course::read_course(*root, course::other_trees());
  if (!course) return course.error();
  for (const course::Course::Broken& one : course->broken) report_error(one.why);
  if (course->labs.empty() && !course->broken.empty()) return course->broken.front().why;
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

const course::Lab* lab_here(const Context& context) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  for (const course::Lab& lab : context.course.labs) {
    const fs::path within = here.lexically_relative(fs::weakly_canonical(lab.folder, error));
    if (!within.empty() && *within.begin() != "..") return &lab;
  }
  return nullptr;
}

const course::Lab& current_lab(const Context& context) {
  if (const course::Lab* const here = lab_here(context)) return *here;
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

namespace {

constexpr double kOpenSeconds = 5;

}  // namespace

bool open_in_browser(const std::filesystem::path& file) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  const char* const path = std::getenv("PATH");
  const auto opener = base::find_in_path("xdg-open", path == nullptr ? "" : path);
  if (opener.empty()) return false;
  const auto run = base::run_process(
      {.arguments = {opener.string(), file.string()}, .timeout_seconds = kOpenSeconds});
  return run && run->exit_code == 0;
}

void add_page_options(CLI::App& command, PageOptions& options) {
  command.add_option("--html", options.html);
  command.add_flag("--open", options.open);
}

report::SourceText read_source(const std::filesystem::path& file) {
  report::SourceText lines;
  const auto text = base::read_file(file);
  if (!text) return lines;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

base::Status put_page(const Context& context, const PageOptions& options, const std::string& name,
                      const std::string& html) {
  std::filesystem::path file = options.html;
  if (file.empty()) file = context.place.state / "pages" / (name + ".html");
  const auto written = base::write_file(file, html);
  if (!written) return written.error();
  const bool shown = options.open && open_in_browser(file);
  std::fprintf(stderr, "%s %s\n", shown ? "opened" : "the page is", file.c_str());
  return base::Done{};
}

std::vector<course::RooflineDot> dots_on(const std::string& device,
                                         const judge::StageState& state) {
  std::vector<course::RooflineDot> dots;
  for (const course::RooflineDot& dot : state.history)
    if (dot.device == device) dots.push_back(dot);
  return dots;
}

base::Status make_page(const Context& context, const PageOptions& options,
                       const course::Result& result, const std::filesystem::path& source,
                       report::PageParts parts) {
  for (const course::StageResult& stage : result.stages)
    if (const auto picture = base::read_file(context.picture_of(result.lab, stage.stage)))
      parts.pictures[stage.stage] = *picture;
  const auto lab = context.course.find(result.lab);
  if (lab && source == context.kernel_of(**lab))
    for (const course::Stage& stage : (*lab)->stages)
      parts.dots[stage.number] =
          dots_on(result.device.short_name(), context.states().read(result.lab, stage.number));
  return put_page(context, options, result.lab,
                  report::render_html(result, read_source(source), parts));
}

}  // namespace membound::cli
