// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/what_changed.hpp"

#include <cmath>
#include <vector>

#include "grader/report/terminal.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
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
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

}  // namespace membound::report
