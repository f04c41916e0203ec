// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "grader/report/result_text.hpp"
#include "grader/report/svg.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

using course::KernelProfile;
using course::StageResult;

constexpr int kShareCells = 10;  // of a bar in the table

bool is_timed(const StageResult& stage) { return stage.speed && stage.ratio; }

/// The case whose speed a result shows.
std::string slowest_case(const StageResult& stage) {
  const auto slowest = std::min_element(
      stage.timings.begin(), stage.timings.end(),
      [](const course::Timing& a, const course::Timing& b) { return a.ratio < b.ratio; });
  return slowest == stage.timings.end() ? "" : slowest->label;
}

std::string whole_percent(double share) { return amount(std::round(100 * share)) + " %"; }

std::string share_bar(double share, const Style& style) {
  const int full = static_cast<int>(std::lround(share * kShareCells));
  std::string text;
  for (int i = 0; i < kShareCells; ++i)
    text += i < full ? (style.unicode ? "█" : "#") : (style.unicode ? "░" : ".");
  return text;
}

/// What stands in the place of a speed.
std::string words_of(const StageResult& stage) {
  return is_timed(stage) ? speed(*stage.speed, stage.bound) : words_for(stage.verdict);
}

bool compares_answers(const std::vector<ComparedRun>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [](const ComparedRun& run) { return !run.answer.empty(); });
}

bool starts_gpu(const std::vector<ComparedRun>& runs, std::size_t i) {
  return i == 0 || runs[i].gpu != runs[i - 1].gpu;
}

}  // namespace

std::string binding_of(const StageResult& stage) {
  const std::string label = slowest_case(stage);
  const KernelProfile* longest = nullptr;
  for (const KernelProfile& kernel : stage.profiles) {
    if (!kernel.label.empty() && kernel.label != label) continue;
    if (longest == nullptr ||
        kernel.predicted_ns * kernel.launches > longest->predicted_ns * longest->launches)
      longest = &kernel;
  }
  return longest == nullptr ? "" : longest->bound;
}

double share_of_ceiling(const StageResult& stage) {
  if (!is_timed(stage) || stage.ceiling.value_or(0) <= 0) return 0;
  return std::min(1.0, *stage.speed / *stage.ceiling);
}

std::string comparison_table(const std::vector<ComparedRun>& runs, const Style& style) {
  const bool two = compares_answers(runs);
  std::vector<std::vector<Cell>> rows(1);
  const auto add = [](std::vector<Cell>& row, std::string text, bool right = false) {
    row.push_back({std::move(text), right});
  };
  add(rows[0], "GPU");
  add(rows[0], "generation");
  if (two) add(rows[0], "kernel");
  add(rows[0], "speed", true);
  add(rows[0], "of ceiling", true);
  add(rows[0], "");
  add(rows[0], "what binds");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const StageResult& stage = runs[i].stage;
    const bool first = starts_gpu(runs, i), timed = is_timed(stage);
    const double share = share_of_ceiling(stage);
    std::vector<Cell>& row = rows.emplace_back();
    add(row, first ? runs[i].gpu : "");
    add(row, first ? runs[i].generation : "");
    if (two) add(row, runs[i].answer);
    add(row, words_of(stage), true);
    add(row, timed ? whole_percent(share) : "", true);
    add(row, timed ? share_bar(share, style) : "");
    add(row, timed ? binding_of(stage) : "");
  }
  return text_table(rows, style);
}

std::string comparison_picture(const std::vector<ComparedRun>& runs, const std::string& title) {
  constexpr double kWidth = 760, kTop = 52, kLeft = 190, kRight = 470, kRow = 24, kGap = 12;
  constexpr double kBar = 14;
  const bool two = compares_answers(runs);
  Svg svg(kWidth, title, "speed as a share of each GPU's own ceiling; predicted");
  svg.text(12, 22, 14, "strong", "start", title);
  svg.text(kLeft, 42, kSmallText, "faint", "start", "0 % of the GPU's own ceiling");
  svg.text(kRight, 42, kSmallText, "faint", "end", "100 %");
  double y = kTop;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const ComparedRun& run = runs[i];
    if (starts_gpu(runs, i)) {
      if (i > 0) y += kGap;
      svg.text(12, y + 11, kSmallText, "strong", "start", run.gpu);
      if (!two) svg.text(12, y + 24, kSmallText, "faint", "start", run.generation);
    }
    if (two) svg.text(kLeft - 6, y + 11, kSmallText, "ink", "end", run.answer);
    const bool timed = is_timed(run.stage);
    const double share = share_of_ceiling(run.stage);
    svg.begin("run");
    svg.box(kLeft, y, kRight - kLeft, kBar, "hatch");
    if (share > 0) svg.box(kLeft, y, (kRight - kLeft) * share, kBar, "cell");
    const std::string binding = binding_of(run.stage);
    svg.text(kRight + 8, y + 11, kSmallText, "ink", "start",
             words_of(run.stage) + (timed && !binding.empty() ? ": " + binding : ""));
    svg.end();
    y += kRow;
  }
  return svg.finish(y + 8, true);
}

}  // namespace membound::report
