// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound list [LAB…]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct ListOptions {
  std::vector<std::string> labs;
  bool names = false;
};

/// What a shell's completion offers: labs and stages.
std::string names(const course::Course& course) {
  std::string text;
  for (const course::Lab& lab : course.labs) {
    text += lab.id + "\n";
    for (const course::Stage& stage : lab.stages)
      text += lab.id + "/" + std::to_string(stage.number) + "\n";
  }
  return text;
}

int run_list(const ListOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  if (options.names) {
    std::fputs(names(context->course).c_str(), stdout);
    return kExitPassed;
  }
  if (options.labs.empty()) {
    std::fputs(course_listing(*context).c_str(), stdout);
    return kExitPassed;
  }
  for (const std::string& word : options.labs) {
    const auto lab = context->course.find(word);
    if (!lab) return report_error(lab.error());
    std::fputs(lab_listing(*context, **lab).c_str(), stdout);
  }
  return kExitPassed;
}

}  // namespace

void add_list(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* const command = app.add_subcommand("list", "");
  command->add_option("LAB", options->labs);
  command->add_flag("--names", options->names);
  command->callback([options, &chosen] { chosen = [options] { return run_list(*options); }; });
}

}  // namespace membound::cli
