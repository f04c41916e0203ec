// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/folds.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "grader/base/error.hpp"

namespace membound::report {
namespace {

constexpr std::string_view kOpen = "<details>", kClose = "</details>";
constexpr std::string_view kSummary = "<summary>", kSummaryEnd = "</summary>";
constexpr std::string_view kSnippet = "<!-- snippet: solutions/", kOfStage = "#stage-";

/// The stage of "<!-- snippet: solutions/03-transpose/kernel.cu#stage-2 -->"; 0 for other lines.
int solved_stage(std::string_view line) {
  if (!line.starts_with(kSnippet)) return 0;
  const auto mark = line.find(kOfStage);
  int stage = 0;
  if (mark != std::string_view::npos)
    std::from_chars(line.data() + mark + kOfStage.size(), line.data() + line.size(), stage);
  return stage;
}

base::Error misfolded(const std::string& file, int line, std::string found) {
  base::Error error{.kind = base::ErrorKind::kInput};
  error.where = file + ":" + std::to_string(line);
  error.found = std::move(found);
  error.expected = "<details>, <summary>…</summary>, text, </details>, each at the line's start";
  error.advice = "mend the fold; folds do not stand in lists or in each other";
  return error;
}

}  // namespace

base::Result<std::vector<Piece>> pieces_of(std::string_view markdown, const std::string& file) {
  std::vector<Piece> pieces(1);
  pieces.back().line = 1;
  bool in_fold = false, in_code = false;
  int number = 0;
  while (!markdown.empty()) {
    const auto end = std::min(markdown.find('\n'), markdown.size());
    const std::string_view line = markdown.substr(0, end);
    markdown.remove_prefix(std::min(end + 1, markdown.size()));
    ++number;
    if (line.starts_with("```")) in_code = !in_code;
    if (!in_code && line == kOpen) {
      if (in_fold) return misfolded(file, number, "a fold in a fold");
      const auto summary_end = markdown.find(kSummaryEnd);
      if (!markdown.starts_with(kSummary) || summary_end > markdown.find("\n\n"))
        return misfolded(file, number, "a fold without a summary");
      in_fold = true;
      std::string summary(markdown.substr(kSummary.size(), summary_end - kSummary.size()));
      markdown.remove_prefix(markdown.find('\n', summary_end) + 1);
      number += 1 + static_cast<int>(std::ranges::count(summary, '\n'));
      std::ranges::replace(summary, '\n', ' ');
      pieces.push_back({.summary = std::move(summary), .line = number + 1});
    } else if (!in_code && line == kClose) {
      if (!in_fold) return misfolded(file, number, "the end of a fold that did not begin");
      in_fold = false;
      pieces.push_back({.line = number + 1});
    } else {
      if (in_fold && pieces.back().solved_stage == 0)
        pieces.back().solved_stage = solved_stage(line);
      pieces.back().text += std::string(line) + "\n";
    }
  }
  if (in_fold) return misfolded(file, pieces.back().line, "a fold without an end");
  return pieces;
}

}  // namespace membound::report
