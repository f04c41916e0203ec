// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Autolab reads the last line of a grader's output: scores by problem (a lab is one) and the
/// scoreboard's row. Source: Autolab's documentation for lab authors.
#include "grader/classroom/exchange/json_text.hpp"
#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/rows.hpp"

namespace membound::exchange {
namespace {

using nlohmann::json;

/// Its columns; every row holds as many values.
const json kColumns = {{"scoreboard", {{{"hdr", "Score"}}, {{"hdr", "Share of reference speed"}}}}};

std::string output_of(const course::Grade& grade) {
  std::string text = summary_beside_stages(grade) + "\n";
  for (const course::StageResult& stage : grade.result.stages)
    text += "\n" + stage_name(stage) + "\n" + stage_text(stage) + "\n";
  const json scores = {{"scores", {{grade.lab, *grade.score}}},
                       {"scoreboard", {*grade.score, grade.ratio.value_or(0)}}};
  return text + "\n" + scores.dump() + "\n";
}

}  // namespace

base::Result<Export> write_autolab(Grades grades, const Settings&) {
  Export out;
  out.documents.push_back({"scoreboard.json", json_text(kColumns)});
  for (const course::Grade& grade : grades) {
    if (!grade.is_there()) continue;
    if (grade.withheld())
      out.left_out.push_back(why_withheld(grade));
    else
      out.documents.push_back({folder_of(grade) + ".txt", output_of(grade)});
  }
  return out;
}

}  // namespace membound::exchange
