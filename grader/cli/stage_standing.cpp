// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/stage_standing.hpp"

#include <algorithm>

#include "grader/base/text_files.hpp"
#include "grader/course/stage_text.hpp"
#include "grader/report/diagnostics.hpp"
#include "grader/report/terminal.hpp"

namespace membound::cli {

report::Tone Standing::tone() const {
  if (passed()) return report::Tone::kGood;
  if (!started || !state.last) return report::Tone::kFaint;
  return report::tone_of(state.last->verdict);
}

std::string Standing::words() const {
  if (passed()) return "passed";
  if (!started) return report::kNotStarted;
  return state.last ? report::words_for(state.last->verdict) : "not checked yet";
}

std::vector<Standing> standings_of(const Context& context, const course::Lab& lab) {
  // The build keeps the skeletons; git, which has them too, would take longer than the whole
  // command.
  const auto skeleton = base::read_file(context.place.build / "share/labs" / lab.id / "kernel.cu");
  const auto kernel = base::read_file(context.kernel_of(lab));
  std::vector<Standing> standings;
  for (const course::Stage& stage : lab.stages) {
    Standing standing{.state = context.states().read(lab.id, stage.number), .started = true};
    if (skeleton && kernel)
      standing.started =
          course::stage_text(*kernel, stage.number) != course::stage_text(*skeleton, stage.number);
    standings.push_back(std::move(standing));
  }
  return standings;
}

std::set<int> untouched_stages(const Context& context, const course::Lab& lab) {
  const auto standings = standings_of(context, lab);
  std::set<int> untouched;
  for (std::size_t i = 0; i < standings.size(); ++i)
    if (!standings[i].started && !standings[i].passed()) untouched.insert(lab.stages[i].number);
  return untouched;
}

course::Result with_own_warnings(const Context& context, const course::Lab& lab,
                                 course::Result result) {
  const bool failed =
      std::any_of(result.stages.begin(), result.stages.end(), [](const course::StageResult& stage) {
        return stage.verdict == course::Verdict::kCompileError;
      });
  if (failed || result.compiler_output.empty()) return result;
  const auto kernel = base::read_file(context.kernel_of(lab));
  const auto untouched = untouched_stages(context, lab);
  // What belongs to no stage, and to those that were checked and begun.
  std::set<int> told = {0};
  for (const course::StageResult& stage : result.stages)
    if (!untouched.contains(stage.stage)) told.insert(stage.stage);
  const std::string own = "labs/" + lab.id + "/kernel.cu";
  result.compiler_output =
      report::warnings_in(result.compiler_output, [&](const std::string& file, int line) {
        return file != own || !kernel || told.contains(course::stage_of_line(*kernel, line));
      });
  return result;
}

}  // namespace membound::cli
