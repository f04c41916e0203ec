// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// draw_schedulings() of access_picture.hpp: one warp under two schedulings, row by row.
#include <algorithm>
#include <set>

#include "grader/report/access_picture.hpp"
#include "grader/report/svg.hpp"

namespace membound::report {
namespace {

using course::MemoryAccess;

constexpr double kPaperWidth = 700, kTimes = 12, kColumn = 158, kBetween = 20;
constexpr double kStepHeight = 24, kLegendHeight = 16, kLegendTop = 62;
constexpr double kSecondsAStep = 0.9, kSecondsAtTheEnd = 3.5;
constexpr std::size_t kLongestLine = 78;
constexpr std::uint32_t kHalfMasks[] = {0x0000ffffu, 0xffff0000u};

constexpr const char* kStepLooks = R"(
    .mb-half0{fill:#d3e4f5;stroke:#2f6fb0}.mb-half1{fill:#fbe3c6;stroke:#a85a0c}
    .mb-never{fill:#f7d6d0;stroke:#b93a2b}
    @media screen and (prefers-color-scheme:dark){
    .mb-half0{fill:#1d3a57;stroke:#6aa9e6}.mb-half1{fill:#43301a;stroke:#e39a4a}
    .mb-never{fill:#4a221c;stroke:#ff9c90}}
)";

/// Accesses of one line by the same lanes, one after the other.
struct Step {
  const MemoryAccess* access = nullptr;
  int times = 0;
};

std::vector<Step> steps_of(const ScheduledRun& run, std::size_t most) {
  std::vector<Step> steps;
  for (const MemoryAccess& access : run.accesses) {
    const MemoryAccess* const last = steps.empty() ? nullptr : steps.back().access;
    if (last != nullptr && last->line == access.line && last->kind == access.kind &&
        last->mask == access.mask) {
      ++steps.back().times;
    } else {
      if (steps.size() == most) break;
      steps.push_back({&access, 1});
    }
  }
  return steps;
}

std::string words_of(const Step& step) {
  std::string text = "line " + std::to_string(step.access->line) + ": " + step.access->kind;
  if (step.times > 1) text += ", repeated";
  return text;
}

/// Rows appear one after the other, and all begin again. Nothing moves on paper or for those who
/// asked their system for less motion: they see all rows at once.
std::string moving_rows(std::size_t rows) {
  const double round = static_cast<double>(rows) * kSecondsAStep + kSecondsAtTheEnd;
  std::string css = "\n    @media screen and (prefers-reduced-motion:no-preference){\n";
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string name = "mb-row" + std::to_string(row);
    const double from = 100 * static_cast<double>(row) * kSecondsAStep / round;
    css += "    ." + name + "{animation:" + name + " " + coordinate(round) +
           "s infinite}@keyframes " + name + "{0%," + coordinate(from) + "%{opacity:0}" +
           coordinate(from + 2) + "%,97%{opacity:1}100%{opacity:0}}\n";
  }
  return css + "}\n";
}

/// The steps of one run, a column for each half of the warp. Returns where it ends.
double draw_run(Svg& svg, double left, double top, const std::string& title,
                const std::vector<Step>& steps, bool never_ends) {
  svg.text(left, top, 12.5, "strong", "start", title);
  for (int half = 0; half < 2; ++half)
    svg.text(left + half * kColumn, top + 17, kSmallText, "faint", "start",
             half == 0 ? "lanes 0 to 15" : "lanes 16 to 31");
  double y = top + 24;
  for (std::size_t row = 0; row < steps.size(); ++row, y += kStepHeight) {
    svg.begin("row" + std::to_string(row));
    for (int half = 0; half < 2; ++half) {
      const double x = left + half * kColumn;
      const bool runs = (steps[row].access->mask & kHalfMasks[half]) != 0;
      svg.box(x, y, kColumn - 4, kStepHeight - 3,
              runs ? std::string("half") + std::to_string(half) : "hatch");
      if (runs) svg.text(x + 6, y + 15, kSmallText, "ink", "start", words_of(steps[row]));
    }
    svg.end();
  }
  if (never_ends) {
    svg.begin("row" + std::to_string(steps.size()));
    svg.box(left, y, 2 * kColumn - 4, kStepHeight - 3, "never");
    svg.text(left + 6, y + 15, kSmallText, "ink", "start",
             "for ever: the other half never gets its turn");
    svg.end();
    y += kStepHeight;
  }
  return y;
}

}  // namespace

std::string draw_schedulings(const ScheduledRun& lockstep, const ScheduledRun& independent,
                             const std::map<int, std::string>& source, std::size_t most_steps,
                             const std::string& title, const std::string& where, bool standalone) {
  const std::vector<Step> left = steps_of(lockstep, most_steps);
  const std::vector<Step> right = steps_of(independent, most_steps);
  std::set<int> lines;
  std::string told;
  for (const auto& [name, steps] : {std::pair("Lockstep: ", &left), {"Independent: ", &right}}) {
    told += name;
    for (const Step& step : *steps) {
      lines.insert(step.access->line);
      told += words_of(step) + "; ";
    }
  }
  if (lockstep.never_ends) told += "in lockstep the kernel never ends";
  Svg svg(kPaperWidth, title, where + ". " + told + ".",
          kStepLooks + moving_rows(std::max(left.size() + 1, right.size())));
  svg.text(kTimes, 22, 14, "strong", "start", title);
  svg.text(kTimes, 40, 11.5, "faint", "start", where);
  double y = kLegendTop;
  for (const int line : lines) {
    const auto text = source.find(line);
    svg.text(kTimes, y, kSmallText, "ink", "start",
             "line " + std::to_string(line) + "   " +
                 (text == source.end() ? "" : text->second.substr(0, kLongestLine)));
    y += kLegendHeight;
  }
  y += 14;
  const double bottom =
      std::max(draw_run(svg, kTimes, y, "one program counter: lockstep", left, lockstep.never_ends),
               draw_run(svg, kTimes + 2 * kColumn + kBetween, y, "one a thread: independent", right,
                        independent.never_ends));
  return svg.finish(bottom + 10, standalone);
}

}  // namespace membound::report
