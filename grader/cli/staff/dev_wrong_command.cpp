// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// membound dev wrong [LAB[/NAME]]: a wrong answer as a whole kernel.cu, or which there are.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "grader/authoring/wrong_answer.hpp"
#include "grader/cli/action.hpp"
#include "grader/cli/command_context.hpp"
#include "grader/cli/error_output.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

constexpr int kWhyIndent = 4;

/// "  3-missing-barrier    stage 3 fails MovesOneTile", and why below it.
std::string row_of(const authoring::WrongAnswer& answer, const report::Style& style) {
  return "  " + report::padded(answer.name, 32) + " stage " + std::to_string(answer.head.stage) +
         " fails " + answer.head.fails + "\n" +
         report::wrapped(answer.head.why, style.width, kWhyIndent);
}

int list_wrong_answers(const Context& context, const std::vector<const course::Lab*>& labs) {
  for (const course::Lab* lab : labs) {
    const auto answers = authoring::read_wrong_answers(context.place.root / "solutions" / lab->id);
    if (!answers) return report_error(answers.error());
    std::printf("%s\n", context.out.paint(lab->id, report::Tone::kStrong).c_str());
    for (const authoring::WrongAnswer& answer : *answers)
      std::fputs(row_of(answer, context.out).c_str(), stdout);
  }
  return kExitPassed;
}

int run_dev_wrong(const std::string& words) {
  const auto context = make_context();
  if (!context) return report_error(context.error());
  if (words.empty()) {
    std::vector<const course::Lab*> all;
    for (const course::Lab& lab : context->course.labs) all.push_back(&lab);
    return list_wrong_answers(*context, all);
  }
  const std::size_t slash = words.find('/');
  const auto lab = context->course.find(words.substr(0, slash));
  if (!lab) return report_error(lab.error());
  if (slash == std::string::npos) return list_wrong_answers(*context, {*lab});
  const auto answer = authoring::find_wrong_answer(context->place.root / "solutions" / (*lab)->id,
                                                   words.substr(slash + 1));
  if (!answer) return report_error(answer.error());
  std::fputs(answer->text.c_str(), stdout);
  return kExitPassed;
}

}  // namespace

void add_dev_wrong(CLI::App& dev, Action& chosen) {
  auto words = std::make_shared<std::string>();
  CLI::App* const command = dev.add_subcommand("wrong", "");
  command->add_option("LAB/NAME", *words);
  command->callback([words, &chosen] { chosen = [words] { return run_dev_wrong(*words); }; });
}

}  // namespace membound::cli
