// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound progress, membound next
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/report/progress_page.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

constexpr std::size_t kLabWidth = 27, kRungWidth = 8, kStageWidth = 38;

/// The first stage that has not passed; `done` where there is none.
struct Here {
  const course::Lab* lab = nullptr;
  const course::Stage* stage = nullptr;
  Standing standing;
  [[nodiscard]] bool done() const { return stage == nullptr; }
  [[nodiscard]] std::string name() const { return lab->id + "/" + std::to_string(stage->number); }
};

Here here_in(const Context& context, const course::Lab& lab) {
  const auto standings = standings_of(context, lab);
  for (std::size_t i = 0; i < standings.size(); ++i)
    if (!standings[i].passed()) return {&lab, &lab.stages[i], standings[i]};
  return {};
}

/// One lab: a sign for each stage, the points; the stage that comes next is in brackets.
std::string rung(const Context& context, const course::Lab& lab, const Here& here,
                 const report::Style& style) {
  std::string signs;
  std::size_t width = 0;
  double points = 0;
  const auto standings = standings_of(context, lab);
  for (std::size_t i = 0; i < standings.size(); ++i) {
    const bool next = here.stage == &lab.stages[i];
    signs += (next ? "[" : " ") + style.sign(standings[i].tone()) + (next ? "]" : " ");
    width += 3;
    points += standings[i].state.best_points;
  }
  const std::size_t most = 3 * kRungWidth;
  return "  " + lab.id.substr(0, 2) + " " + report::padded(lab.title, kLabWidth) + signs +
         std::string(width < most ? most - width : 1, ' ') + report::points(points) + " of " +
         report::points(lab.max_points()) + "\n";
}

/// "too slow, 0.67 of 0.75".
std::string words_of(const Standing& standing, const course::Stage& stage) {
  const auto& last = standing.state.last;
  std::string text = standing.words();
  if (!standing.passed() && standing.started && last && last->ratio)
    text += ", " + report::number(*last->ratio) + " of " + report::number(stage.pass_ratio);
  return text;
}

std::string stage_rows(const Context& context, const Here& here, const report::Style& style) {
  std::string text =
      "\n" + style.paint(here.lab->id + ": " + here.lab->title, report::Tone::kStrong) + "\n";
  const auto standings = standings_of(context, *here.lab);
  for (std::size_t i = 0; i < standings.size(); ++i) {
    const course::Stage& stage = here.lab->stages[i];
    text += std::string(here.stage == &stage ? "> " : "  ") + style.sign(standings[i].tone()) +
            " " + report::padded(std::to_string(stage.number) + " " + stage.title, kStageWidth) +
            words_of(standings[i], stage) + "\n";
  }
  return text;
}

std::string next_text(const Context& context, const Here& here, const report::Style& style) {
  if (here.done()) {
    const bool has_answers = !answer_file(context, context.course.labs.front()).empty();
    return std::string("Every stage has passed.") +
           (has_answers ? " Compare: ./membound solution LAB/STAGE\n" : "\n");
  }
  std::string text =
      "Next: " + style.paint(here.name() + ", " + here.stage->title, report::Tone::kStrong) + " (" +
      here.standing.words() + ")\n";
  text += stage_advice(context, *here.lab, *here.stage);
  return text;
}

/// Of the lab that `word` names, or of the one that comes next where it names none or a finished
/// one.
int run_next(const std::string& word) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  Here here;
  if (!word.empty()) {
    const auto lab = context->course.find(word);
    if (!lab) return report_error(lab.error());
    here = here_in(*context, **lab);
  }
  if (here.done()) here = here_in(*context, current_lab(*context));
  std::fputs(next_text(*context, here, context->out).c_str(), stdout);
  return kExitPassed;
}

base::Status make_progress_page(const Context& context, const Here& here,
                                const PageOptions& options) {
  std::vector<report::LabProgress> labs;
  for (const course::Lab& lab : context.course.labs) {
    report::LabProgress row{lab.id, lab.title, {}};
    const auto standings = standings_of(context, lab);
    for (std::size_t i = 0; i < standings.size(); ++i) {
      const course::Stage& stage = lab.stages[i];
      row.stages.push_back({stage.number, stage.title, words_of(standings[i], stage),
                            standings[i].tone(), standings[i].state.best_points, stage.points,
                            here.stage == &stage});
    }
    labs.push_back(std::move(row));
  }
  return put_page(context, options, "progress",
                  report::progress_page(labs, next_text(context, here, report::Style{})));
}

int run_progress(const PageOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const Here here = here_in(*context, current_lab(*context));
  std::string text;
  double points = 0, most = 0;
  for (const course::Lab& lab : context->course.labs) {
    text += rung(*context, lab, here, context->out);
    for (const Standing& standing : standings_of(*context, lab))
      points += standing.state.best_points;
    most += lab.max_points();
  }
  text += "  " + report::padded("together", 3 + kLabWidth + 3 * kRungWidth) +
          report::points(points) + " of " + report::points(most) + "\n";
  if (!here.done()) text += stage_rows(*context, here, context->out);
  text += "\n";
  std::fputs((text + next_text(*context, here, context->out)).c_str(), stdout);
  if (!options.wanted()) return kExitPassed;
  std::fflush(stdout);
  const auto page = make_progress_page(*context, here, options);
  return page ? kExitPassed : report_error(page.error());
}

}  // namespace

void add_progress(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<PageOptions>();
  CLI::App* const command = app.add_subcommand("progress", "");
  add_page_options(*command, *options);
  command->callback([options, &chosen] { chosen = [options] { return run_progress(*options); }; });
}

void add_next(CLI::App& app, Action& chosen) {
  auto lab = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand("next", "");
  command->add_option("LAB", *lab);
  command->callback([lab, &chosen] { chosen = [lab] { return run_next(*lab); }; });
}

}  // namespace membound::cli
