// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound handout [LAB]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/judge/workplace.hpp"
#include "grader/report/handout.hpp"

namespace membound::cli {
namespace {

struct HandoutOptions {
  std::string lab;
  bool text = false, answers = false, path = false;
  std::string notebook;  ///< the file that gets it; empty: none
};

/// Shows long text through $PAGER or less, as git and man do; false when there is no pager.
bool page(const std::string& text) {
  const char* const wanted = std::getenv("PAGER");
  const std::string pager = wanted != nullptr && *wanted != '\0' ? wanted : "less";
  const char* const path = std::getenv("PATH");
  const std::string program = pager.substr(0, pager.find(' '));
  if (path == nullptr || base::find_in_path(program, path).empty()) return false;
  // Leave short text alone, keep colours. No other thread runs.
  setenv("LESS", "FRX", 0);  // NOLINT(concurrency-mt-unsafe)
  FILE* const pipe = popen(pager.c_str(), "w");
  if (pipe == nullptr) return false;
  std::fputs(text.c_str(), pipe);
  return pclose(pipe) == 0;
}

/// Writes the handout as a page with its figures in it, and shows it where there is a browser.
base::Status show_page(const Context& context, const std::string& text,
                       const report::HandoutView& view, const std::filesystem::path& file) {
  report::HandoutView on_page = view;
  const auto glossary = base::read_file(context.place.root / "docs/glossary.md");
  if (glossary) on_page.terms = report::gpu_terms(*glossary);
  on_page.addresses.link = [](std::string_view target) {
    return target.find("://") == std::string_view::npos && !target.starts_with("#")
               ? ""
               : std::string(target);
  };
  on_page.addresses.figure = [&](std::string_view target) -> report::FigureSource {
    const auto svg = base::read_file(file.parent_path() / target);
    if (!svg) return {.address = std::string(target)};
    return report::figure_source(*svg, report::inlined_address(*svg));
  };
  const auto body = report::handout_body(text, file.string(), on_page);
  if (!body) return body.error();
  const auto page = context.place.state / "pages" / ("handout-" + view.lab + ".html");
  const auto written = base::write_file(page, report::standalone_page(*body));
  if (!written) return written.error();
  const bool opened = open_in_browser(page);
  std::printf("%s %s\n", opened ? "opened" : "the page is", page.c_str());
  if (!opened) std::printf("in the terminal: ./membound handout %s --text\n", view.lab.c_str());
  return base::Done{};
}

/// Writes the handout with the lab's untouched skeleton as a notebook.
base::Status write_notebook(const Context& context, const std::string& text, const course::Lab& lab,
                            const std::filesystem::path& file,
                            const std::filesystem::path& target) {
  const auto skeleton = judge::find_skeleton(context.place, lab);
  if (!skeleton) return skeleton.error();
  const course::SplitSubmission split = course::split_submission(*skeleton);
  const auto notebook = report::handout_notebook(
      text, lab.handout.string(), lab,
      {.kernel = split.kernel, .beside = split.beside, .figure = [&](std::string_view figure) {
         const auto svg = base::read_file(file.parent_path() / figure);
         return svg ? *svg : std::string();
       }});
  return notebook ? base::write_file(target, *notebook) : notebook.error();
}

int run_handout(const HandoutOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab* lab = &current_lab(*context);
  if (!options.lab.empty()) {
    const auto found = context->course.find(options.lab);
    if (!found) return report_error(found.error());
    lab = *found;
  }
  const auto file = context->place.tree(*lab) / lab->handout;
  const auto text = base::read_file(file);
  if (!text) return report_error(text.error());
  if (options.path) {
    std::printf("%s\n", file.c_str());
    return kExitPassed;
  }
  if (!options.notebook.empty()) {
    const auto written = write_notebook(*context, *text, *lab, file, options.notebook);
    return written ? kExitPassed : report_error(written.error());
  }
  const report::HandoutView view = {
      .lab = lab->id,
      .unlocked = [&](int stage) { return context->states().read(lab->id, stage).ever_passed; },
      .drawing =
          [&](std::string_view target) {
            auto drawn = file.parent_path() / target;
            const auto letters = base::read_file(drawn.replace_extension(".txt"));
            return letters ? *letters : std::string();
          }};
  if (!options.text && !options.answers) {
    const auto shown = show_page(*context, *text, view, file);
    return shown ? kExitPassed : report_error(shown.error());
  }
  const auto shown =
      report::handout_text(*text, lab->handout.string(), view, options.answers, context->out);
  if (!shown) return report_error(shown.error());
  if (!context->out_is_terminal || !page(*shown)) std::fputs(shown->c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_handout(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<HandoutOptions>();
  CLI::App* const command = app.add_subcommand("handout", "");
  command->add_option("LAB", options->lab);
  command->add_flag("--text", options->text);
  command->add_flag("--answers", options->answers);
  command->add_flag("--path", options->path);
  command->add_option("--notebook", options->notebook);
  command->callback([options, &chosen] { chosen = [options] { return run_handout(*options); }; });
}

}  // namespace membound::cli
