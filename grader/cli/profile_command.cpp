// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound profile LAB[/STAGE]…: what each line of a kernel costs, and what bounds it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/cli/checking.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/report/profile_text.hpp"
#include "grader/report/result_text.hpp"

namespace membound::cli {
namespace {

struct ProfileOptions : judge::CheckOptions {
  std::vector<std::string> labs;
  PageOptions page;
};

int run_profile(ProfileOptions options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto selections = course::select_all(context->course, options.labs);
  if (!selections) return report_error(selections.error());
  if (selections->size() != 1) {
    return report_error({base::ErrorKind::kUsage, "membound profile",
                         "several labs at once would be hard to read", "one lab", ""});
  }
  options.trace = options.page.wanted();
  const auto tools = chosen_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  const std::atomic<bool>* const stop = catch_interrupts();
  const std::filesystem::path source = options.submission.empty()
                                           ? context->kernel_of(*selections->front().lab)
                                           : std::filesystem::path(options.submission);
  const report::SourceText lines = read_source(source);
  const auto checked =
      check_labs(*context, *tools, options, *selections, stop, [&](const course::Result& result) {
        for (const course::StageResult& stage : result.stages) {
          std::printf("%s\n%s\n", report::render_line(stage, context->out).c_str(),
                      report::render_profile(stage, lines, context->out).c_str());
        }
        std::fflush(stdout);
      });
  if (!checked) return report_error(checked.error());
  if (checked->stopped) return kExitInterrupted;
  if (!options.page.wanted() || checked->results.empty()) return kExitPassed;
  const auto page = make_page(*context, options.page, checked->results.front(), source);
  return page ? kExitPassed : report_error(page.error());
}

}  // namespace

void add_profile(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App* const command = app.add_subcommand("profile", "");
  command->add_option("LAB", options->labs)->required();
  add_check_options(*command, *options);
  command->add_option("--submission", options->submission);
  add_page_options(*command, options->page);
  command->callback([options, &chosen] { chosen = [options] { return run_profile(*options); }; });
}

}  // namespace membound::cli
