// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/predictions.hpp"

#include <cmath>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

/// Averages over edges and last blocks are seldom whole.
constexpr double kNear = 0.03;

}  // namespace

std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                             std::optional<double> answer) {
  if (!stage.question || !said) return "";
  const std::string guess = amount(*said), unit = " " + stage.question->unit;
  std::string text = "Stage " + std::to_string(stage.number) + ": you said " + guess + unit;
  if (!answer) return text + "; nothing was counted (--device vgpu counts).\n";
  const std::string count = amount(*answer);
  if (count == guess) return text + ", and so it was.\n";
  const bool near = std::abs(*said - *answer) <= kNear * std::abs(*answer);
  return text + (near ? ", and so it was: " : "; it was ") + count + ".\n";
}

std::string said_and_counted(const course::Stage& stage, std::optional<double> said,
                             const course::StageResult& result) {
  const bool counted_untimed = !stage.kind->has_reference && result.answer;
  return result.ratio || counted_untimed ? said_and_counted(stage, said, result.answer) : "";
}

}  // namespace membound::report
