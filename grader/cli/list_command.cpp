// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound list [LAB…]
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "grader/cli/action.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/cli/lab_listing.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct ListOptions {
  std::vector<std::string> labs;
  bool names = false;
};

constexpr std::size_t kIdWidth = 18;
constexpr std::size_t kTitleWidth = 34;

std::string stage_line(const course::Stage& stage, const Standing& standing,
                       const report::Style& style) {
  std::string text = "  " + style.sign(standing.tone()) + " " +
                     report::padded(std::to_string(stage.number) + " " + stage.title, 36);
  const auto& last = standing.state.last;
  if (!last || (!standing.started && !standing.passed()))
    return text + style.paint(standing.words(), report::Tone::kFaint) + "\n";
  text += report::padded(standing.words(), 20) + report::points(standing.state.best_points) +
          " of " + report::points(stage.points);
  if (standing.passed() && !last->passed())
    text += style.paint("; last: " + report::words_for(last->verdict), report::Tone::kFaint);
  return text + "\n";
}

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

std::string course_listing(const Context& context) {
  const report::Style& style = context.out;
  std::string text;
  double points = 0, most = 0;
  for (const course::Lab& lab : context.course.labs) {
    std::string signs;
    double lab_points = 0;
    for (const Standing& standing : standings_of(context, lab)) {
      signs += style.sign(standing.tone());
      lab_points += standing.state.best_points;
    }
    text += report::padded(lab.id, kIdWidth) + report::padded(lab.title, kTitleWidth) + " " +
            signs + std::string(8 - std::min<std::size_t>(8, lab.stages.size()), ' ') +
            report::points(lab_points) + " of " + report::points(lab.max_points()) + "\n";
    points += lab_points;
    most += lab.max_points();
  }
  text += "\n" + report::points(points) + " of " + report::points(most) + " points. ";
  const course::Lab& next = current_lab(context);
  const auto standings = standings_of(context, next);
  if (std::all_of(standings.begin(), standings.end(),
                  [](const Standing& standing) { return standing.passed(); }))
    return text + "Every stage has passed.\n";
  return text + "Next: ./membound check " + next.id + "/" +
         std::to_string(current_stage(context, next)) + "\n";
}

std::string lab_listing(const Context& context, const course::Lab& lab) {
  const report::Style& style = context.out;
  std::string text = style.paint(lab.id + ": " + lab.title, report::Tone::kStrong) + "\n";
  text += report::wrapped(lab.summary, style.width, 0);
  const auto standings = standings_of(context, lab);
  for (std::size_t i = 0; i < standings.size(); ++i)
    text += stage_line(lab.stages[i], standings[i], style);
  return text;
}

void add_list(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* const command = app.add_subcommand("list", "");
  command->add_option("LAB", options->labs);
  command->add_flag("--names", options->names);
  command->callback([options, &chosen] { chosen = [options] { return run_list(*options); }; });
}

}  // namespace membound::cli
