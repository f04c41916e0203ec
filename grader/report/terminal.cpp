// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/terminal.hpp"

#include <algorithm>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::Verdict;

// "03-transpose" -> "03": what a student types.
std::string number_of(const std::string& lab_id) { return lab_id.substr(0, lab_id.find('-')); }

std::string head(const course::Result& result, const Style& style) {
  const std::string device = result.device.name_for_times();
  std::string text = style.paint("Lab " + result.lab + ": " + result.title, Tone::kStrong) + "\n";
  if (!device.empty()) {
    text += wrapped("on " + device + ", compiled with " + result.compiler + ", seed " +
                        std::to_string(result.seed),
                    style.width, 0);
  }
  return text + "\n";
}

const course::StageResult* stage_to_explain(const course::Result& result) {
  const auto not_passed = std::find_if(
      result.stages.begin(), result.stages.end(),
      [](const course::StageResult& s) { return !s.passed() && s.verdict != Verdict::kSkipped; });
  if (not_passed != result.stages.end()) return &*not_passed;
  return result.stages.size() == 1 ? &result.stages.front() : nullptr;
}

std::string next_step(const course::Result& result, const course::StageResult* explained,
                      const Style& style) {
  std::string text;
  const std::string lab = number_of(result.lab);
  if (explained == nullptr || explained->passed()) {
    text = result.stages.size() > 1 ? "All stages passed. ./membound handout " + lab +
                                          " ends with what to look at after you are done."
                                    : "Next: ./membound check " + lab;
  } else if (explained->verdict == Verdict::kInfraError) {
    text = "This says nothing about your kernel. ./membound doctor looks at the machine.";
  } else {
    text = "Next: ./membound hint " + lab + "/" + std::to_string(explained->stage);
  }
  return wrapped(text, style.width, 0);
}

}  // namespace

std::string words_for(Verdict verdict) { return std::string(course::row_of(verdict).words); }

Tone tone_of(Verdict verdict) {
  switch (course::row_of(verdict).mark) {
    case course::Mark::kGood:
      return Tone::kGood;
    case course::Mark::kUnsure:
      return Tone::kWarning;
    case course::Mark::kLeftOut:
      return Tone::kFaint;
    case course::Mark::kBad:
      break;
  }
  return Tone::kBad;
}

std::string render_line(const course::StageResult& stage, const Style& style) {
  const Tone tone = tone_of(stage.verdict);
  std::string line = "  " + style.sign(tone) + " " + std::to_string(stage.stage) + " " +
                     padded(stage.name, 22) + " " +
                     style.paint(padded(words_for(stage.verdict), 17), tone);
  line += padded(stage.ratio ? number(*stage.ratio) + " of ref." : "", 14);
  line += padded(stage.speed ? speed(*stage.speed, stage.bound) : "", 13);
  line += points(stage.points) + "/" + points(stage.max_points);
  return line + "\n";
}

std::string render(const course::Result& result, const Style& style) {
  std::string text = head(result, style);
  for (const course::StageResult& stage : result.stages) text += render_line(stage, style);

  const course::StageResult* explained = stage_to_explain(result);
  const bool compiles = std::none_of(
      result.stages.begin(), result.stages.end(),
      [](const course::StageResult& s) { return s.verdict == Verdict::kCompileError; });
  if (!compiles && !result.compiler_output.empty()) {
    // As the compiler printed it, so that editors and search engines recognise it.
    text += "\n" + result.compiler_output + "\n";
  }
  if (explained != nullptr) text += "\n" + render_detail(*explained, style);

  text += "\n" +
          style.paint(points(result.points()) + " of " + points(result.max_points()) + " points",
                      Tone::kStrong) +
          "\n";
  return text + next_step(result, explained, style);
}

}  // namespace membound::report
