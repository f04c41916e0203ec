// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/result_text.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/report/diagnostics.hpp"
#include "grader/report/profile_text.hpp"
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

/// After a pass of all that was checked: a part of a lab is never called the whole.
std::string after_a_pass(const course::Result& result, const WholeLab& lab) {
  const std::string number = number_of(result.lab);
  if (lab.stages == result.stages.size()) {
    if (!lab.is_explained) return "All stages passed. Next: ./membound next";
    return "All stages passed. The lab's explanation is open now: ./membound handout " + number +
           ", \"After you are done\"" +
           (lab.has_answers ? "; our answers: ./membound solution " + number + "/1." : ".");
  }
  if (result.stages.size() == 1) return "Next: ./membound next " + number;
  return "The " + base::counted(result.stages.size(), "stage") +
         " of this check passed. Next: ./membound next " + number;
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
/// after.
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
  for (std::string line; std::getline(lines, line);) {
    // Clang counts them at the end, and names an architecture that no student chose.
    if (line.empty() || line.find(" generated when compiling for ") != std::string::npos) continue;
    if (count++ < kWarningLinesShown) text += line + "\n";
  }
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
    base::add_word(text, label + " in stage " + listed(stages), "; ");
  if (!text.empty())
    text = wrapped("Speeds shown: the case of the lowest ratio, " + text, style.width, 4);
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

std::string render_line(const course::StageResult& stage, const Style& style, bool untouched) {
  if (untouched) return line_with(stage, kNotStarted, Tone::kFaint, style);
  return line_with(stage, words_for(stage.verdict), tone_of(stage.verdict), style);
}

std::string render_one(const course::Result& result, const Style& style, const SourceReader& read) {
  const course::StageResult& stage = result.stages.front();
  std::string text = render_line(stage, style) + "\n";
  text += compiler_text(result, style);
  return text + render_detail(stage, style, read);
}

std::string next_step(const course::Result& result, const Stages& untouched,
                      const WholeLab& whole) {
  const course::StageResult* const explained = stage_to_explain(result, untouched);
  const std::string lab = number_of(result.lab);
  if (explained == nullptr || explained->passed()) return after_a_pass(result, whole);
  if (explained->verdict == Verdict::kInfraError)
    return "This says nothing about your kernel. ./membound doctor looks at the machine.";
  if (untouched.contains(explained->stage))
    return "Next: ./membound next " + lab + " says what to read and which line to edit.";
  if (explained->verdict == Verdict::kCompileError)
    return "Next: mend the first thing the compiler says, then ./membound check " + lab;
  return "Next: ./membound hint " + lab + "/" + std::to_string(explained->stage);
}

std::string render(const course::Result& result, const Style& style, const Stages& untouched,
                   const SourceReader& read, const WholeLab& lab) {
  std::string text = head(result, style);
  for (const course::StageResult& stage : result.stages)
    text += render_line(stage, style, untouched.contains(stage.stage));
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
  return text + wrapped(next_step(result, untouched, lab), style.width, 0);
}

namespace {

using course::StageResult;
using course::TestOutcome;

constexpr int kIndent = 2;
constexpr std::size_t kLinesShown = 8;
constexpr std::size_t kCheckerFindingsShown = 3;
constexpr int kCells = 40;  // of the ruler from 0 to the reference's speed

std::string tests_text(const StageResult& stage, const Style& style) {
  std::vector<std::string> passed, skipped;
  const TestOutcome* first_failed = nullptr;
  std::size_t failed = 0;
  for (const TestOutcome& test : stage.tests) {
    if (test.skipped) {
      skipped.push_back(test.name);
    } else if (test.passed) {
      passed.push_back(test.name);
    } else {
      ++failed;
      if (first_failed == nullptr) first_failed = &test;
    }
  }
  std::string text;
  if (!passed.empty()) {
    text += wrapped("passed: " + listed(passed), style.width, kIndent);
  }
  if (first_failed != nullptr) {
    text += "  " + style.paint("failed: " + first_failed->name, Tone::kBad) + "\n";
    text += wrapped(first_failed->message, style.width, 2 * kIndent);
  }
  if (failed > 1) {
    text += wrapped("and " + std::to_string(failed - 1) +
                        " more test(s) after it; the first one is the easiest",
                    style.width, kIndent);
  }
  if (!skipped.empty()) text += wrapped("not run: " + listed(skipped), style.width, kIndent);
  return text;
}

// The bar as a ruler from 0 to the reference's speed: what is reached, and where the bar stands.
std::string ruler(double ratio, double pass_ratio, const Style& style) {
  const auto cell = [](double value) {
    return std::clamp<int>(static_cast<int>(value * kCells), 0, kCells);
  };
  std::string text;
  for (int i = 0; i < kCells; ++i) {
    if (i == cell(pass_ratio)) {
      text += "|";
    } else {
      text += i < cell(ratio) ? (style.unicode ? "█" : "#") : (style.unicode ? "░" : ".");
    }
  }
  return text;
}

// Of a program, whose work has no speed of its own.
std::string times_text(const course::Timing& timing, const Style& style) {
  return wrapped("yours      " + duration(timing.student_median_ns) + " for " + timing.label +
                     ", on the GPU",
                 style.width, kIndent) +
         "  reference  " + duration(timing.reference_median_ns) + "\n";
}

std::string speed_text(const StageResult& stage, const Style& style) {
  if (!stage.ratio) return "";
  const Tone tone = *stage.ratio >= stage.pass_ratio ? Tone::kGood : Tone::kBad;
  std::string text = "  " + style.paint(ruler(*stage.ratio, stage.pass_ratio, style), tone) + "\n";
  std::string ratio = "ratio      " + number(*stage.ratio);
  if (stage.ratio_low && stage.ratio_high && stage.samples > 1) {
    ratio += " (" + number(*stage.ratio_low) + " to " + number(*stage.ratio_high) + ", " +
             base::counted(stage.samples, "pair") + ")";
  }
  text += wrapped(ratio + "; the bar is " + number(stage.pass_ratio), style.width, kIndent);
  const course::Timing* const timing = course::slowest(stage.timings);
  if (!stage.speed) return text + (timing == nullptr ? "" : times_text(*timing, style));
  std::string of;
  if (timing != nullptr && stage.timings.size() > 1)
    of = " for " + timing->label + ", the lowest ratio of " +
         base::counted(stage.timings.size(), "case");
  text += wrapped("yours      " + speed(*stage.speed, stage.bound) + of, style.width, kIndent);
  if (stage.reference_speed) {
    text += "  reference  " + speed(*stage.reference_speed, stage.bound) + "\n";
  }
  if (stage.ceiling && *stage.ceiling > 0) {
    const bool predicted = course::is_virtual_device(stage.device);
    text += wrapped("ceiling    " + speed(*stage.ceiling, stage.bound) +
                        (predicted ? ", predicted for a copy or the reference" : " on this device"),
                    style.width, kIndent);
  }
  for (const course::CpuBaselineTime& baseline : stage.cpu_baselines) {
    text += "  " + padded(baseline.label, 22) + " " + duration(baseline.ns) + "\n";
  }
  return text;
}

// Source lines that cost more than their ideal, the most wasteful first.
std::string lines_text(const StageResult& stage, const Style& style) {
  std::vector<course::SourceLine> lines = stage.source_lines;
  if (lines.empty()) return "";
  const auto waste = [](const course::SourceLine& line) {
    return (line.per_request - line.ideal_per_request) * static_cast<double>(line.requests);
  };
  std::stable_sort(lines.begin(), lines.end(),
                   [&](const auto& a, const auto& b) { return waste(a) > waste(b); });
  lines.resize(std::min(lines.size(), kLinesShown));
  std::string text = "  what each line's memory accesses cost:\n";
  for (const course::SourceLine& line : lines) {
    const bool wasteful = line.per_request > 1.05 * line.ideal_per_request;
    const std::string instance = line.instance.empty() ? "" : " (" + line.instance + ")";
    std::string row = "line " + std::to_string(line.line) + instance + ": " + line.access + ", " +
                      number(line.per_request) + " " + line.unit + " per request";
    if (line.ideal_per_request > 0) row += ", ideal " + number(line.ideal_per_request);
    text += "    " + style.paint(row, wasteful ? Tone::kWarning : Tone::kPlain) + "\n";
  }
  return text;
}

std::string findings_text(const StageResult& stage, const Style& style, const SourceReader& read) {
  std::string text;
  std::size_t left = kCheckerFindingsShown, untold = 0;
  for (const course::Finding& finding : stage.findings) {
    // A failed test is already told in full above.
    if (!finding.test.empty() || is_advice(finding, stage)) continue;
    if (!finding.advice.empty() && left == 0) {
      ++untold;
      continue;
    }
    if (!finding.advice.empty()) --left;
    std::string where;
    if (finding.line > 0) {
      const bool is_remark = finding.kind == course::kRemark;
      where = diagnostic_head(finding.file, finding.line,
                              is_remark        ? "note"
                              : stage.passed() ? "warning"
                                               : "error");
    }
    text += wrapped("- " + where + finding.text, style.width, kIndent);
    if (finding.line > 0 && read)
      text += source_excerpt(read(finding.file), finding.line, 0, style.width);
    if (!finding.advice.empty())
      text += wrapped("try: " + finding.advice, style.width, kIndent + 2);
  }
  if (untold > 0) {
    text += wrapped("(" + std::to_string(untold) + " more: see the page of --open)", style.width,
                    kIndent);
  }
  return text;
}

/// What the source shows of a failed test: the line, and what to do about it.
std::string failure_advice(const StageResult& stage, const Style& style, const SourceReader& read) {
  std::string text;
  for (const course::Finding& finding : stage.findings) {
    if (finding.test.empty()) continue;
    if (finding.line > 0) {
      text += wrapped("- " + diagnostic_head(finding.file, finding.line, "error") + "the test " +
                          finding.test + " fails",
                      style.width, kIndent);
      if (read) text += source_excerpt(read(finding.file), finding.line, 0, style.width);
    }
    if (!finding.advice.empty())
      text += wrapped("try: " + finding.advice, style.width, kIndent + 2);
  }
  return text;
}

}  // namespace

std::string render_detail(const StageResult& stage, const Style& style, const SourceReader& read) {
  std::string text = style.paint("Stage " + std::to_string(stage.stage) + ", " + stage.title +
                                     ": " + words_for(stage.verdict),
                                 Tone::kStrong) +
                     "\n";
  text += tests_text(stage, style);
  text += failure_advice(stage, style, read);
  if (stage.verdict == Verdict::kUnsafe || stage.verdict == Verdict::kWrong) {
    // How fast it ran is of no use: the cause alone.
    text += findings_text(stage, style, read);
  } else {
    text += speed_text(stage, style);
    text += lines_text(stage, style);
    if (const course::KernelProfile* const kernel = costliest(stage))
      text += render_advice(*kernel, style);
    text += findings_text(stage, style, read);
  }
  for (const std::string& remark : stage.remarks) text += wrapped(remark, style.width, kIndent);
  for (const std::string& note : stage.notes) text += wrapped(note, style.width, kIndent);
  return text;
}

namespace {

/// "global_load_requests", "global_load_rounds".
bool counts_accesses(std::string_view counter) {
  const auto has = [&](const char* part) { return counter.find(part) != std::string_view::npos; };
  return (has("_load_") || has("_store_")) &&
         (counter.ends_with("_requests") || counter.ends_with("_rounds"));
}

/// Whether the number is one of accesses, which a compiler may split or repeat: loads a warp, or
/// bytes and multiply-adds a load. Not sectors a load: a vector's parts touch as many as the
/// vector.
bool hangs_on_code(const course::Question& question) {
  const std::string_view counter = question.counter;
  return counts_accesses(counter) ||
         (counts_accesses(question.per) &&
          (counter.ends_with("_instructions") || counter.ends_with("_bytes")));
}

}  // namespace

bool is_as_counted(const course::Question& question, double said, double counted) {
  constexpr double kNear = 0.03, kNearAverage = 0.05, kNearPercent = 5;
  const bool is_average = counted != std::floor(counted);
  const double near = (is_average ? kNearAverage : kNear) * std::abs(counted);
  return std::abs(said - counted) <=
         (question.counter.ends_with("_percent") ? std::max(near, kNearPercent) : near);
}

std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                             std::optional<double> answer, std::string_view compiler) {
  if (!stage.question || !said) return "";
  const std::string guess = amount(*said), unit = " " + stage.question->unit;
  std::string text = "Stage " + std::to_string(stage.number) + ": you said " + guess + unit;
  if (!answer)
    return text + "; none of these were counted (on a GPU nothing is; --device vgpu counts).\n";
  const std::string count = amount(*answer);
  if (count == guess) return text + ", and so it was.\n";
  if (is_as_counted(*stage.question, *said, *answer))
    return text + ", and so it was: " + count + ".\n";
  text += "; it was " + count;
  if (!compiler.starts_with("clang") || !hangs_on_code(*stage.question)) return text + ".\n";
  return text + " in the code of " + std::string(compiler) +
         ", which may load a vector in parts, or repeat an access in two branches. Count the "
         "accesses in your source: your number may be right for them.\n";
}

std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                             const course::StageResult& result, std::string_view compiler) {
  const bool counted_untimed = !stage.kind->has_reference && result.answer;
  return result.ratio || counted_untimed ? said_and_counted(stage, said, result.answer, compiler)
                                         : "";
}

namespace {

using course::SourceLine;

/// Ratios and counts nearer than this are told with the same digits.
constexpr double kTold = 0.005;

bool differ(double one, double other) { return std::abs(one - other) >= kTold; }

/// The accesses of one kind, in the order of the source.
std::vector<SourceLine> accesses(const course::StageResult& stage, const SourceLine& like) {
  std::vector<SourceLine> lines;
  for (const SourceLine& line : stage.source_lines)
    if (line.access == like.access && line.unit == like.unit && line.instance == like.instance)
      lines.push_back(line);
  return lines;
}

/// Where the n-th access of a kind costs something else now. Lines move when text is edited, so an
/// access is known by its place among its kind; where their number changed, none is.
void add_lines(const course::StageResult& before, const course::StageResult& now,
               const std::string& arrow, std::vector<std::string>& parts) {
  for (const SourceLine& line : now.source_lines) {
    const auto mine = accesses(now, line), old = accesses(before, line);
    if (mine.size() != old.size()) continue;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (mine[i].file != line.file || mine[i].line != line.line) continue;
      if (!differ(old[i].per_request, line.per_request)) continue;
      std::string part = "line " + std::to_string(line.line) + ": " + amount(old[i].per_request) +
                         arrow + amount(line.per_request) + " " + line.unit;
      if (parts.empty() || parts.back() != part) parts.push_back(std::move(part));
    }
  }
}

}  // namespace

std::string what_changed(const course::StageResult& before, const course::StageResult& now,
                         const Style& style) {
  if (before.device != now.device) return "";
  const std::string arrow = style.unicode ? " → " : " -> ";
  std::vector<std::string> parts;
  if (before.verdict != now.verdict)
    parts.push_back(words_for(before.verdict) + arrow + words_for(now.verdict));
  if (before.ratio && now.ratio && differ(*before.ratio, *now.ratio))
    parts.push_back(number(*before.ratio) + arrow + number(*now.ratio));
  add_lines(before, now, arrow, parts);
  return base::joined(parts, "; ");
}

}  // namespace membound::report
