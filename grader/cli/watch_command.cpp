// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound watch [LAB[/STAGE]]
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "grader/cli/action.hpp"
#include "grader/cli/checking.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/file_watch.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/cli/watcher.hpp"

namespace membound::cli {
namespace {

struct WatchOptions : judge::CheckOptions {
  std::string lab;
};

int run_watch(const WatchOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab* lab = &current_lab(*context);
  int stage = 0;
  if (!options.lab.empty()) {
    const auto selection = course::select(context->course, options.lab);
    if (!selection) return report_error(selection.error());
    lab = selection->lab;
    if (options.lab.find('/') != std::string::npos) stage = selection->stages.front();
  }
  if (stage == 0) stage = current_stage(*context, *lab);
  const auto tools = judge::choose_tools(context->place, options);
  if (!tools) return report_error(tools.error());
  auto file = FileWatch::on(context->kernel_of(*lab));
  if (!file) return report_error(file.error());
  return watch(*context, options, *lab, stage, *tools, *std::move(file));
}

}  // namespace

void add_watch(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* const command = app.add_subcommand("watch", "");
  command->add_option("LAB", options->lab);
  add_check_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_watch(*options); }; });
}

}  // namespace membound::cli
