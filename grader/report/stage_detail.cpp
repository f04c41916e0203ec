// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "grader/report/advice_text.hpp"
#include "grader/report/diagnostics.hpp"
#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
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
             std::to_string(stage.samples) + " pairs)";
  }
  text += wrapped(ratio + "; the bar is " + number(stage.pass_ratio), style.width, kIndent);
  const course::Timing* const timing = course::slowest(stage.timings);
  if (!stage.speed) return text + (timing == nullptr ? "" : times_text(*timing, style));
  std::string of;
  if (timing != nullptr && stage.timings.size() > 1)
    of = " for " + timing->label + ", furthest behind of " + std::to_string(stage.timings.size());
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

}  // namespace

std::string render_detail(const StageResult& stage, const Style& style, const SourceReader& read) {
  std::string text = style.paint("Stage " + std::to_string(stage.stage) + ", " + stage.title +
                                     ": " + words_for(stage.verdict),
                                 Tone::kStrong) +
                     "\n";
  text += tests_text(stage, style);
  text += speed_text(stage, style);
  text += lines_text(stage, style);
  if (const course::KernelProfile* const kernel = costliest(stage))
    text += render_advice(*kernel, style);
  text += findings_text(stage, style, read);
  for (const std::string& remark : stage.remarks) text += wrapped(remark, style.width, kIndent);
  for (const std::string& note : stage.notes) text += wrapped(note, style.width, kIndent);
  return text;
}

}  // namespace membound::report
