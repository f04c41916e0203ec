// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound solution LAB/STAGE: the reference answer beside one's own, after a pass.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/base/files.hpp"
#include "grader/base/strings.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/command_line.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

struct SolutionOptions {
  std::string stage;
  bool whole = false;
};

/// `text` without its TODOs, each a comment from the line that begins so to the end of the comment:
/// the answer has none, and each would be told as a difference.
std::string without_todos(std::string_view text) {
  std::string rest;
  bool inside = false;
  for (const std::string_view line : base::lines_of(text)) {
    const std::string_view code = base::trimmed(line);
    inside = code.starts_with("// TODO") || (inside && code.starts_with("//"));
    if (!inside) rest += std::string(line) + "\n";
  }
  return rest;
}

int run_solution(const SolutionOptions& options) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  const auto selection = course::select(context->course, options.stage);
  if (!selection) return report_error(selection.error());
  if (selection->stages.size() != 1)
    return report_error({base::ErrorKind::kUsage, options.stage,
                         std::to_string(selection->stages.size()) + " stages", "one stage",
                         "membound solution " + selection->lab->id + "/1"});
  const int stage = selection->stages.front();
  const std::string name = selection->lab->id + "/" + std::to_string(stage);
  if (!context->states().read(selection->lab->id, stage).ever_passed)
    return report_error({base::ErrorKind::kUsage, name, "it has not passed yet",
                         "a stage that passed a check of yours",
                         "./membound check " + name + ", or ./membound hint " + name});
  const std::filesystem::path file = answer_file(*context, *selection->lab);
  if (file.empty())
    return report_error(
        {base::ErrorKind::kInput, name, "this copy was made for a class, without reference answers",
         "one made for self-study, or the course itself",
         "./membound handout " + selection->lab->id +
             " explains each stage's idea; your class gets the answers when the lab is over"});
  const auto answer = base::read_file(file);
  if (!answer) return report_error(answer.error());
  const std::string ours = course::stage_text(*answer, stage);
  const auto kernel = base::read_file(context->kernel_of(*selection->lab));
  if (options.whole || !kernel) {
    std::fputs(ours.c_str(), stdout);
    return kExitPassed;
  }
  std::printf("%s: - only in yours, + only in ours. Yours may differ and be as good.\n\n",
              name.c_str());
  const std::string mine = without_todos(course::stage_text(*kernel, stage));
  std::fputs(report::line_diff(mine, ours, context->out).c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_solution(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<SolutionOptions>();
  CLI::App* const command = app.add_subcommand("solution", "");
  command->add_option("LAB/STAGE", options->stage)->required();
  command->add_flag("--whole", options->whole);
  command->callback([options, &chosen] { chosen = [options] { return run_solution(*options); }; });
}

}  // namespace membound::cli
