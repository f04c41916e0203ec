// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound handout [LAB]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "grader/base/process.hpp"
#include "grader/base/text_files.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/report/markdown.hpp"

namespace membound::cli {
namespace {

struct HandoutOptions {
  std::string lab;
  bool path = false;
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

int run_handout(const HandoutOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab* lab = &current_lab(*context);
  if (!options.lab.empty()) {
    const auto found = context->course.find(options.lab);
    if (!found) return report_error(found.error());
    lab = *found;
  }
  const auto file = context->place.root / lab->handout;
  const auto text = base::read_file(file);
  if (!text) return report_error(text.error());
  if (options.path) {
    std::printf("%s\n", file.c_str());
    return kExitPassed;
  }
  std::string shown = report::render_markdown(*text, context->out);
  shown += "\nFigures are shown by any Markdown viewer or browser: " + file.string() + "\n";
  if (!context->out_is_terminal || !page(shown)) std::fputs(shown.c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_handout(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<HandoutOptions>();
  CLI::App* const command = app.add_subcommand("handout", "");
  command->add_option("LAB", options->lab);
  command->add_flag("--path", options->path);
  command->callback([options, &chosen] { chosen = [options] { return run_handout(*options); }; });
}

}  // namespace membound::cli
