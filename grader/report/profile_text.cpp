// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/profile_text.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "grader/report/advice_text.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::KernelProfile;
using course::LineWork;
using course::SourceLine;
using course::StageResult;

constexpr int kAround = 2;          // lines shown before the first and behind the last
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

ProfileRow row_of(const SourceLine& line) {
  const bool has_ideal = line.ideal_per_request > 0;
  return {line.line,
          line.access,
          amount(static_cast<double>(line.requests)),
          amount(line.per_request) + " " + line.unit,
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
  std::string text = style.paint("  " + padded("line", 6) + padded("access", 14) +
                                     padded("requests", 13) + padded("per request", 17) + "ideal",
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
                        padded(row.per_request, 17) + row.ideal;
    while (cells.back() == ' ') cells.pop_back();
    if (row.wasteful) cells += row.ideal.empty() ? "  <- avoidable" : "  <- more than needed";
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
