// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound predict [LAB[/STAGE]] [NUMBER]
#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>

#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/report/result_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct PredictOptions {
  std::string stage, number;
};

std::string name_of(const course::Lab& lab, const course::Stage& stage) {
  return lab.id + "/" + std::to_string(stage.number);
}

/// A stage's question, and what was said to it and counted so far.
std::string row(const Context& context, const course::Lab& lab, const course::Stage& stage) {
  if (!stage.question) return name_of(lab, stage) + ": asks nothing\n";
  const judge::StageState state = context.states().read(lab.id, stage.number);
  const auto answer = state.last ? state.last->answer : std::nullopt;
  std::string text = name_of(lab, stage) + ": " + stage.question->ask + "\n";
  if (!state.predicted) return text;
  return text +
         (answer ? "  " + report::said_and_counted(stage, state.predicted, answer, state.compiler)
                 : "  You said " + report::amount(*state.predicted) + " " + stage.question->unit +
                       "; not checked yet.\n");
}

base::Result<double> number_in(const std::string& text, const course::Question& question) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
      value >= 0)
    return value;
  return base::Error{base::ErrorKind::kUsage, "\"" + text + "\"", "this is no number",
                     "a number of " + question.unit + ", not below 0: 4 or 0.5", question.ask};
}

int run_predict(const PredictOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const course::Lab& here = current_lab(*context);
  const std::string word = options.stage.empty() ? here.id : options.stage;
  const auto selection = course::select(context->course, word);
  if (!selection) return report_error(selection.error());
  const course::Lab& lab = *selection->lab;
  if (options.number.empty()) {
    for (const int number : selection->stages)
      std::fputs(
          report::wrapped(row(*context, lab, *lab.stage(number)), context->out.width, 0).c_str(),
          stdout);
    return kExitPassed;
  }
  if (selection->stages.size() != 1)
    return report_error({base::ErrorKind::kUsage, word,
                         "this means " + std::to_string(selection->stages.size()) + " stages",
                         "one stage", "./membound predict " + lab.id + "/1 " + options.number});
  const course::Stage& stage = *lab.stage(selection->stages.front());
  if (!stage.question)
    return report_error({base::ErrorKind::kUsage, name_of(lab, stage), "this stage asks nothing",
                         "a stage with a question", "./membound predict " + lab.id});
  const auto number = number_in(options.number, *stage.question);
  if (!number) return report_error(number.error());
  judge::StageState state = context->states().read(lab.id, stage.number);
  state.predicted = *number;
  const auto kept = context->states().write(lab.id, stage.number, state);
  if (!kept) return report_error(kept.error());
  std::fputs(report::wrapped("Noted: " + report::amount(*number) + " " + stage.question->unit +
                                 ". ./membound check " + name_of(lab, stage) +
                                 " puts the count beside it.",
                             context->out.width, 0)
                 .c_str(),
             stdout);
  return kExitPassed;
}

}  // namespace

void add_predict(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<PredictOptions>();
  CLI::App* const command = app.add_subcommand("predict", "");
  command->add_option("STAGE", options->stage);
  command->add_option("NUMBER", options->number);
  command->callback([options, &chosen] { chosen = [options] { return run_predict(*options); }; });
}

}  // namespace membound::cli
