// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/stage_advice.hpp"

#include <algorithm>

#include "grader/base/text_files.hpp"
#include "grader/cli/stage_standing.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/report/text.hpp"

namespace membound::cli {
namespace {

/// The line of the stage's first TODO in kernel.cu, or of its head; 0 where it has neither.
int line_to_edit(const Context& context, const course::Lab& lab, const course::Stage& stage) {
  const auto kernel = base::read_file(context.kernel_of(lab));
  if (!kernel) return 0;
  const std::string text = course::stage_text(*kernel, stage.number);
  const auto start = kernel->find(text);
  if (text.empty() || start == std::string::npos) return 0;
  const auto todo = text.find("TODO");
  const auto place = start + (todo == std::string::npos ? 0 : todo);
  return 1 + static_cast<int>(
                 std::count(kernel->begin(), kernel->begin() + static_cast<long>(place), '\n'));
}

}  // namespace

std::string stage_advice(const Context& context, const course::Lab& lab,
                         const course::Stage& stage) {
  const std::string name = lab.id + "/" + std::to_string(stage.number);
  const auto standings = standings_of(context, lab);
  const Standing& standing = standings[static_cast<std::size_t>(stage.number - 1)];
  const int line = line_to_edit(context, lab, stage);
  std::string text;
  if (!standing.started) text += "  read     ./membound handout " + lab.id + "\n";
  if (stage.question && !standing.state.predicted && !standing.passed())
    text += report::wrapped("predict  " + stage.question->ask, context.out.width, 2) +
            "           ./membound predict " + name + " NUMBER\n";
  text += "  edit     labs/" + lab.id + "/kernel.cu" +
          (line > 0 ? ":" + std::to_string(line) : "") + "\n  check    ./membound check " + name +
          "\n";
  if (standing.started && standing.state.last) text += "  stuck    ./membound hint " + name + "\n";
  return text;
}

}  // namespace membound::cli
