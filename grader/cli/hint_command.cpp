// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound hint [LAB[/STAGE]]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/stage_standing.hpp"

namespace membound::cli {
namespace {

/// The stage whose last check asks for help: the first that was checked and did not pass.
int stage_in_need(const Context& context, const course::Lab& lab) {
  for (const course::Stage& stage : lab.stages) {
    const judge::StageState state = context.states().read(lab.id, stage.number);
    if (state.last && !state.last->passed()) return stage.number;
  }
  return current_stage(context, lab);
}

int run_hint(const std::string& word) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab* lab = &current_lab(*context);
  int stage = 0;
  if (!word.empty()) {
    const auto selection = course::select(context->course, word);
    if (!selection) return report_error(selection.error());
    lab = selection->lab;
    if (word.find('/') != std::string::npos) stage = selection->stages.front();
  }
  if (stage == 0) stage = stage_in_need(*context, *lab);
  const auto text = hint_text(*context, *lab, *lab->stage(stage));
  if (!text) return report_error(text.error());
  std::fputs(text->c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_hint(CLI::App& app, Action& chosen) {
  auto word = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("hint", "");
  command->add_option("LAB", *word);
  command->callback([word, &chosen] { chosen = [word] { return run_hint(*word); }; });
}

}  // namespace membound::cli
