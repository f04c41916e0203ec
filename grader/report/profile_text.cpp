// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/profile_text.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::KernelProfile;
using course::SpeedAdvice;

constexpr std::size_t kFaultsShown = 3;
constexpr int kFaultIndent = 4, kRemedyIndent = 13;

std::string fault_text(const SpeedAdvice& advice, const Style& style) {
  const std::string times = number(advice.gain) + (style.unicode ? " ×" : " x");
  const std::string place = place_of(advice);
  std::string text = "    " +
                     style.paint(padded(times, kRemedyIndent - kFaultIndent) + "without " +
                                     advice.fault + (place.empty() ? "" : ", " + place),
                                 Tone::kWarning) +
                     "\n";
  text += wrapped(advice.what + " (" + evidence_of(advice) + ")", style.width, kRemedyIndent);
  text += wrapped("try: " + advice.remedy, style.width, kRemedyIndent);
  const std::string explained = explained_in(advice);
  if (!explained.empty()) text += wrapped("handout " + explained, style.width, kRemedyIndent);
  return text;
}

}  // namespace

const KernelProfile* costliest(const course::StageResult& stage) {
  const auto most =
      std::max_element(stage.profiles.begin(), stage.profiles.end(),
                       [](const KernelProfile& a, const KernelProfile& b) {
                         return a.predicted_ns * a.launches < b.predicted_ns * b.launches;
                       });
  return most == stage.profiles.end() ? nullptr : &*most;
}

bool is_advice(const course::Finding& finding, const course::StageResult& stage) {
  const course::KernelProfile* const kernel = costliest(stage);
  return kernel != nullptr && std::any_of(kernel->advice.begin(), kernel->advice.end(),
                                          [&](const course::SpeedAdvice& advice) {
                                            return advice.rule == finding.kind;
                                          });
}

std::string place_of(const SpeedAdvice& advice) {
  if (advice.line == 0) return "";
  return std::filesystem::path(advice.file).filename().string() + ":" + std::to_string(advice.line);
}

std::string evidence_of(const SpeedAdvice& advice) {
  return advice.counter + " " + amount(static_cast<double>(advice.value)) +
         (advice.counted_by.empty() ? "" : ", by " + advice.counted_by);
}

std::string explained_in(const SpeedAdvice& advice) {
  return advice.handout.empty() ? "" : advice.handout + ", \"" + advice.section + "\"";
}

std::string render_advice(const KernelProfile& kernel, const Style& style) {
  if (kernel.advice.empty()) return "";
  std::string text = "  what would make it faster, as the clock predicts:\n";
  for (std::size_t i = 0; i < std::min(kFaultsShown, kernel.advice.size()); ++i)
    text += fault_text(kernel.advice[i], style);
  return text;
}

namespace {

using course::LineWork;
using course::SourceLine;
using course::StageResult;

constexpr int kAround = 2;          // lines shown before the first and past the last
constexpr double kWasteful = 1.05;  // times the ideal
constexpr std::size_t kBoundCells = 24, kBoundsShown = 5;

bool is_kernel_file(const std::string& file) {
  return std::filesystem::path(file).extension() == ".cu";
}

/// Whether counted accesses belong to this kernel: same line, same template instance.
bool belongs(const SourceLine& line, const KernelProfile& kernel) {
  if (!line.instance.empty() && kernel.name.find("<" + line.instance + ">") == std::string::npos)
    return false;
  return std::any_of(kernel.lines.begin(), kernel.lines.end(), [&](const LineWork& work) {
    return work.line == line.line && work.file == line.file;
  });
}

/// "12.5 wavefronts of PTX" and a space.
constexpr std::size_t kPerRequestWidth = 23;

/// How many, with the unit in a column's width: "1 sector", "12.5 wavefronts of PTX".
std::string with_unit(const std::string& count, const std::string& unit) {
  const std::size_t remark = unit.find(" (as PTX");
  std::string words = unit.substr(0, remark);
  if (count == "1" && words.ends_with('s')) words.pop_back();
  return count + " " + words + (remark == std::string::npos ? "" : " of PTX");
}

ProfileRow row_of(const SourceLine& line) {
  const bool has_ideal = line.ideal_per_request > 0;
  return {line.line,
          line.access,
          amount(static_cast<double>(line.requests)),
          with_unit(amount(line.per_request), line.unit),
          has_ideal ? amount(line.ideal_per_request) : "",
          has_ideal ? line.per_request > kWasteful * line.ideal_per_request
                    : line.access.starts_with("local")};
}

std::string percent(double share) { return amount(100 * share) + " %"; }

std::string extent(const std::array<std::int64_t, 3>& e) {
  std::string text = amount(static_cast<double>(e[0]));
  for (std::size_t i = 1; i < 3; ++i)
    if (e[i] != 1 || (i == 1 && e[2] != 1)) text += " x " + amount(static_cast<double>(e[i]));
  return text;
}

std::string bounds_text(const KernelProfile& kernel, const Style& style) {
  std::string text;
  const double longest = kernel.bounds.empty() ? 0 : kernel.bounds.front().ns;
  for (std::size_t i = 0; i < std::min(kBoundsShown, kernel.bounds.size()); ++i) {
    const course::TimeBound& bound = kernel.bounds[i];
    if (bound.ns < 0.005 * longest) break;
    const auto cells = static_cast<std::size_t>(
        std::lround(std::max(1.0, bound.ns / longest * static_cast<double>(kBoundCells))));
    std::string bar;
    for (std::size_t c = 0; c < cells; ++c) bar += style.unicode ? "█" : "#";
    text += "    " + padded(bound.name, 33) + padded(duration(bound.ns), 10) + bar + "\n";
  }
  const std::string sum = overlap_words(kernel);
  return sum.empty() ? text : text + wrapped(sum, style.width, 4);
}

std::string table(const StageResult& stage, const KernelProfile& kernel, const SourceText& source,
                  const Style& style) {
  const std::vector<ProfileRow> rows = profile_rows(stage, kernel);
  if (rows.empty()) return "  no line of it accesses memory\n";
  std::string text =
      style.paint("  " + padded("line", 6) + padded("access", 14) + padded("requests", 13) +
                      padded("per request", kPerRequestWidth) + "ideal",
                  Tone::kFaint) +
      "\n";
  int last = 0;
  for (const ProfileRow& row : rows) {
    const auto index = static_cast<std::size_t>(row.line);
    if (row.line != last && index >= 1 && index <= source.size()) {
      const std::string& code = source[index - 1];
      const std::size_t start = std::min(code.find_first_not_of(' '), code.size());
      text += style.paint(
          "  " + padded(std::to_string(row.line), 6) +
              padded(code.substr(start), static_cast<std::size_t>(std::max(20, style.width - 9))),
          Tone::kStrong);
      while (text.back() == ' ') text.pop_back();
      text += "\n";
    }
    last = row.line;
    std::string cells = "  " + padded("", 6) + padded(row.access, 14) + padded(row.requests, 13) +
                        padded(row.per_request, kPerRequestWidth) + row.ideal;
    while (cells.back() == ' ') cells.pop_back();
    if (row.wasteful) cells += row.ideal.empty() ? "  <- avoidable" : "  <- above the ideal";
    text += style.paint(cells, row.wasteful ? Tone::kWarning : Tone::kPlain) + "\n";
  }
  return text;
}

}  // namespace

std::string bound_words(const KernelProfile& kernel) {
  if (kernel.advice.empty()) return kernel.bound;
  const course::SpeedAdvice& first = kernel.advice.front();
  return kernel.bound + "; without " + first.fault + " it would take " +
         duration(kernel.predicted_ns / first.gain);
}

std::string overlap_words(const KernelProfile& kernel) {
  constexpr double kMore = 1.05;  // shown with three digits, less looks the same
  if (kernel.bounds.empty() || kernel.predicted_ns < kMore * kernel.bounds.front().ns) return "";
  return "They overlap only in part: together they take " + duration(kernel.predicted_ns) + ".";
}

std::vector<ProfileRow> profile_rows(const StageResult& stage, const KernelProfile& kernel) {
  std::vector<ProfileRow> rows;
  for (const SourceLine& line : stage.source_lines)
    if (is_kernel_file(line.file) && belongs(line, kernel)) rows.push_back(row_of(line));
  // What earns all points is not asked for better: rows that are not aligned, for example.
  if (stage.passed() && stage.max_points > 0 && stage.points >= stage.max_points)
    for (ProfileRow& row : rows) row.wasteful = false;
  for (const LineWork& work : kernel.lines) {
    if (work.divergent_branches == 0 || !is_kernel_file(work.file)) continue;
    const double share =
        static_cast<double>(work.divergent_branches) / static_cast<double>(work.branches);
    rows.push_back({work.line, "branch", amount(static_cast<double>(work.branches)),
                    percent(share) + " diverge", "", false});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.line < b.line; });
  return rows;
}

std::pair<int, int> lines_shown(const KernelProfile& kernel, const SourceText& source) {
  int first = 0, last = 0;
  for (const LineWork& work : kernel.lines) {
    if (work.line == 0 || !is_kernel_file(work.file)) continue;
    first = first == 0 ? work.line : std::min(first, work.line);
    last = std::max(last, work.line);
  }
  if (first == 0) return {0, 0};
  return {std::max(1, first - kAround), std::min(static_cast<int>(source.size()), last + kAround)};
}

std::string launch_in_words(const KernelProfile& kernel) {
  return extent(kernel.grid) + " blocks of " + extent(kernel.block) + " threads; " +
         amount(kernel.registers) + " registers a thread, " +
         amount(static_cast<double>(kernel.shared_bytes)) + " bytes of shared memory a block";
}

std::string render_kernel(const StageResult& stage, const KernelProfile& kernel,
                          const SourceText& source, const Style& style) {
  const std::string label = kernel.label.empty() ? "" : ": " + kernel.label;
  std::string text =
      "\n" + style.paint(wrapped(kernel.name + label, style.width, 0), Tone::kStrong);
  text += wrapped(launch_in_words(kernel), style.width, 2);
  text += wrapped("occupancy " + percent(kernel.occupancy) + ": " +
                      std::to_string(kernel.blocks_per_sm) +
                      " blocks a multiprocessor, limited by " + kernel.limiter + "; " +
                      amount(kernel.lanes_per_instruction) + " of 32 lanes active on average",
                  style.width, 2);
  text +=
      wrapped(duration(kernel.predicted_ns) + " predicted; what bounds it: " + bound_words(kernel),
              style.width, 2);
  text += bounds_text(kernel, style);
  text += table(stage, kernel, source, style);
  return text + render_advice(kernel, style);
}

std::string render_profile(const StageResult& stage, const SourceText& source, const Style& style) {
  std::string text =
      style.paint("Stage " + std::to_string(stage.stage) + ", " + stage.title, Tone::kStrong) +
      "\n";
  for (const std::string& remark : stage.remarks) text += wrapped(remark, style.width, 2);
  for (const std::string& note : stage.notes) text += wrapped(note, style.width, 2);
  if (stage.profiles.empty())
    return text + wrapped("nothing was timed, so nothing was counted", style.width, 2);
  for (const KernelProfile& kernel : stage.profiles)
    text += render_kernel(stage, kernel, source, style);
  return text;
}

}  // namespace membound::report
