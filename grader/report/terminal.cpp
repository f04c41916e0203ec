// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/terminal.hpp"

#include <algorithm>
#include <sstream>

#include "grader/report/diagnostics.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::Verdict;
using Stages = std::set<int>;

constexpr std::size_t kWarningLinesShown = 12;
constexpr int kNoteIndent = 4;

// "03-transpose" -> "03": what a student types.
std::string number_of(const std::string& lab_id) { return lab_id.substr(0, lab_id.find('-')); }

/// ", 8 of 132 multiprocessors" of "NVIDIA H200, 8 of 132 multiprocessors (virtual)", which is a
/// slice of a virtual GPU; empty for a whole one.
std::string slice_of(const std::string& device) {
  const auto begin = device.rfind(", "), end = device.find(" (virtual)");
  if (begin == std::string::npos || end == std::string::npos || end < begin) return "";
  return device.substr(begin, end - begin);
}

std::string head(const course::Result& result, const Style& style) {
  const std::string device = result.device.name_for_times();
  std::string text = style.paint("Lab " + result.lab + ": " + result.title, Tone::kStrong) + "\n";
  if (!device.empty()) {
    text += wrapped("on " + device + slice_of(result.device.name) + ", compiled with " +
                        result.compiler + ", seed " + std::to_string(result.seed),
                    style.width, 0);
  }
  return text + "\n";
}

/// The first stage that needs a word: one that was begun before one that was not.
const course::StageResult* stage_to_explain(const course::Result& result, const Stages& untouched) {
  const auto open = [](const course::StageResult& s) {
    return !s.passed() && s.verdict != Verdict::kSkipped;
  };
  const course::StageResult* not_begun = nullptr;
  for (const course::StageResult& stage : result.stages) {
    if (!open(stage)) continue;
    if (!untouched.contains(stage.stage)) return &stage;
    if (not_begun == nullptr) not_begun = &stage;
  }
  if (not_begun != nullptr) return not_begun;
  return result.stages.size() == 1 ? &result.stages.front() : nullptr;
}

bool has_reason_not_to_run(const course::StageResult& stage) {
  return stage.verdict == Verdict::kSkipped && !stage.findings.empty();
}

std::string next_step(const course::Result& result, const course::StageResult* explained,
                      bool begun, const Style& style) {
  std::string text;
  const std::string lab = number_of(result.lab);
  if (explained == nullptr || explained->passed()) {
    const bool all =
        std::none_of(result.stages.begin(), result.stages.end(), has_reason_not_to_run);
    text = result.stages.size() > 1 ? std::string(all ? "All stages" : "The stages that were run") +
                                          " passed. What to look at now: ./membound handout " +
                                          lab + ", \"After you are done\"."
                                    : "Next: ./membound next " + lab;
  } else if (explained->verdict == Verdict::kInfraError) {
    text = "This says nothing about your kernel. ./membound doctor looks at the machine.";
  } else if (!begun) {
    text = "Next: ./membound next " + lab + " says what to read and which line to edit.";
  } else if (explained->verdict == Verdict::kCompileError) {
    text = "Next: mend the first thing the compiler says, then ./membound check " + lab;
  } else {
    text = "Next: ./membound hint " + lab + "/" + std::to_string(explained->stage);
  }
  return wrapped(text, style.width, 0);
}

/// The speed; of a program, whose work has none, the time.
std::string pace(const course::StageResult& stage) {
  if (stage.speed) return speed(*stage.speed, stage.bound);
  const course::Timing* const slowest = course::slowest(stage.timings);
  return slowest == nullptr ? "" : duration(slowest->student_median_ns);
}

std::string line_with(const course::StageResult& stage, const std::string& words, Tone tone,
                      const Style& style) {
  std::string line = "  " + style.sign(tone) + " " + std::to_string(stage.stage) + " " +
                     padded(stage.name, 22) + " " + style.paint(padded(words, 17), tone);
  line += padded(stage.ratio ? number(*stage.ratio) + " of ref." : "", 14);
  line += padded(pace(stage), 13);
  line += points(stage.points) + "/" + points(stage.max_points);
  return line + "\n";
}

/// The compiler's own words, so that search engines recognise them. A blank line goes before and
/// behind.
std::string compiler_text(const course::Result& result, const Style& style) {
  const std::string& output = result.compiler_output;
  const bool failed =
      std::any_of(result.stages.begin(), result.stages.end(),
                  [](const course::StageResult& s) { return s.verdict == Verdict::kCompileError; });
  if (output.empty()) return "";
  if (failed) return "\n" + with_places(output) + "\n";
  std::istringstream lines(with_places(output));
  std::string text = "\n" + style.paint("The compiler warns:", Tone::kWarning) + "\n";
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    if (count < kWarningLinesShown) text += line + "\n";
  if (count > kWarningLinesShown)
    text += "(" + std::to_string(count - kWarningLinesShown) + " more lines: see --open)\n";
  return text + "\n";
}

/// What a program's run told. A kernel, which has a speed, has notes on the measurement alone.
std::string notes_text(const course::StageResult& stage, const Style& style) {
  std::string text;
  const std::string head = "Stage " + std::to_string(stage.stage) + ": ";
  for (const std::string& remark : stage.remarks)
    text += wrapped(head + remark, style.width, kNoteIndent);
  for (const std::string& note : stage.notes)
    if (!stage.speed) text += wrapped(head + note, style.width, kNoteIndent);
  return text;
}

/// Why stages were not run.
std::string left_out_text(const course::Result& result, const Style& style) {
  std::string text;
  for (const course::StageResult& stage : result.stages)
    if (has_reason_not_to_run(stage))
      text += wrapped(
          "Stage " + std::to_string(stage.stage) + " was not run: " + stage.findings.front().text,
          style.width, kNoteIndent);
  return text;
}

/// Of which case the speeds above are, where a stage is timed in several; and of what the times.
std::string cases_text(const course::Result& result, const Style& style) {
  std::vector<std::pair<std::string, std::vector<std::string>>> stages_of;
  for (const course::StageResult& stage : result.stages) {
    const course::Timing* const slowest = course::slowest(stage.timings);
    if (!stage.ratio || slowest == nullptr || stage.timings.size() < 2) continue;
    auto known = std::find_if(stages_of.begin(), stages_of.end(),
                              [&](const auto& entry) { return entry.first == slowest->label; });
    if (known == stages_of.end()) known = stages_of.insert(known, {slowest->label, {}});
    known->second.push_back(std::to_string(stage.stage));
  }
  std::string text;
  for (const auto& [label, stages] : stages_of)
    text += (text.empty() ? "" : "; ") + label + " in stage " + listed(stages);
  if (!text.empty()) text = wrapped("Speeds: of the case furthest behind, " + text, style.width, 4);
  const bool has_program =
      std::any_of(result.stages.begin(), result.stages.end(),
                  [](const course::StageResult& stage) { return stage.ratio && !stage.speed; });
  if (has_program)
    text += wrapped("Times: of whole programs, measured on the GPU; their demands are held on " +
                        result.device.short_name(),
                    style.width, 4);
  return text;
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
  return line_with(stage, words_for(stage.verdict), tone_of(stage.verdict), style);
}

std::string render_one(const course::Result& result, const Style& style, const SourceReader& read) {
  const course::StageResult& stage = result.stages.front();
  std::string text = render_line(stage, style) + "\n";
  text += compiler_text(result, style);
  return text + render_detail(stage, style, read);
}

std::string render(const course::Result& result, const Style& style, const Stages& untouched,
                   const SourceReader& read) {
  std::string text = head(result, style);
  for (const course::StageResult& stage : result.stages)
    text += untouched.contains(stage.stage) ? line_with(stage, kNotStarted, Tone::kFaint, style)
                                            : render_line(stage, style);
  text += left_out_text(result, style);
  text += cases_text(result, style);
  const course::StageResult* explained = stage_to_explain(result, untouched);
  for (const course::StageResult& stage : result.stages)
    if (stage.passed() && &stage != explained) text += notes_text(stage, style);
  const bool begun = explained == nullptr || !untouched.contains(explained->stage);
  text += compiler_text(result, style);
  if (explained != nullptr && begun) text += "\n" + render_detail(*explained, style, read);

  text += "\n" +
          style.paint(points(result.points()) + " of " + points(result.max_points()) + " points",
                      Tone::kStrong) +
          "\n";
  return text + next_step(result, explained, begun, style);
}

}  // namespace membound::report
