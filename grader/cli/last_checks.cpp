// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/last_checks.hpp"

#include "grader/report/predictions.hpp"
#include "grader/report/text.hpp"
#include "grader/report/what_changed.hpp"

namespace membound::cli {

LastChecks::LastChecks(const Context& context, const std::vector<course::Selection>& selections) {
  for (const course::Selection& selection : selections)
    for (const int number : selection.stages) {
      judge::StageState state = context.states().read(selection.lab->id, number);
      if (state.last) stages_.push_back(*std::move(state.last));
      if (state.predicted) predictions_.push_back({selection.lab, number, *state.predicted});
    }
}

std::string LastChecks::changes(const course::Result& result, const report::Style& style) const {
  std::string text;
  for (const course::StageResult& stage : result.stages)
    for (const Prediction& said : predictions_)
      if (said.lab->id == stage.lab && said.stage == stage.stage)
        text += report::wrapped(
            report::said_and_counted(*said.lab->stage(said.stage), said.number, stage), style.width,
            0);
  for (const course::StageResult& stage : result.stages)
    for (const course::StageResult& last : stages_) {
      if (last.lab != stage.lab || last.stage != stage.stage) continue;
      const std::string change = report::what_changed(last, stage, style);
      if (!change.empty())
        text += report::wrapped(
            "Since the last check of stage " + std::to_string(stage.stage) + ": " + change,
            style.width, 0);
    }
  return text;
}

}  // namespace membound::cli
