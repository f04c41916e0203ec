// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Markdown: a table of the class (grades.md) and a page for each submission, as a pull request's
/// comment or a CI job's summary shows it. What a student wrote stands in code blocks or is
/// escaped.
#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/rows.hpp"

namespace membound::exchange {
namespace {

/// In a table or a heading: no markup, no HTML, no line ends.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>()#+-!|~&").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// A fenced block whose fence is longer than any row of backticks inside.
std::string code_block(std::string_view text) {
  std::size_t longest = 2, row = 0;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + std::string(text) + "\n" + fence + "\n";
}

std::string score_text(const course::Grade& grade) {
  if (!grade.score) return "withheld";
  return two_decimals(*grade.score) + " / " + two_decimals(grade.max_score);
}

std::string verdict_text(const course::Grade& grade) {
  return grade.verdict ? escaped(course::to_string(*grade.verdict)) : "nothing submitted";
}

std::string page_of(const course::Grade& grade) {
  std::string page = "# " + escaped(grade.lab) + ": " + score_text(grade) + "\n\n**" +
                     verdict_text(grade) + "** " + escaped(summary_beside_stages(grade)) + "\n";
  if (!grade.result.stages.empty()) {
    page += "\n| stage | points | verdict | ratio |\n| --- | ---: | --- | ---: |\n";
    for (const course::StageResult& stage : grade.result.stages)
      page += "| " + escaped(stage_name(stage)) + " | " + two_decimals(stage.points) + " / " +
              two_decimals(stage.max_points) + " | " + escaped(course::to_string(stage.verdict)) +
              " | " + (stage.ratio ? two_decimals(*stage.ratio) : "") + " |\n";
  }
  for (const course::StageResult& stage : grade.result.stages)
    if (!stage.passed())
      page += "\n## " + escaped(stage_name(stage)) + "\n\n" + code_block(stage_text(stage));
  if (!grade.result.compiler_output.empty())
    page += "\n## Compiler\n\n" + code_block(grade.result.compiler_output);
  return page + "\nDevice " + escaped(grade.device) + ", graded " + escaped(grade.graded_at) +
         ", submission `" + grade.submission_sha256.substr(0, 12) + "`.\n";
}

}  // namespace

base::Result<Export> write_markdown(Grades grades, const Settings&) {
  Export out;
  std::string table =
      "# Grades\n\n| student | lab | score | verdict | ratio | note |\n"
      "| --- | --- | ---: | --- | ---: | --- |\n";
  for (const course::Grade& grade : grades) {
    table += "| " + escaped(shown_student(grade)) + " | " + escaped(grade.lab) + " | " +
             score_text(grade) + " | " + verdict_text(grade) + " | " +
             (grade.ratio ? two_decimals(*grade.ratio) : "") + " | " + escaped(grade.note) + " |\n";
    if (grade.is_there()) out.documents.push_back({folder_of(grade) + ".md", page_of(grade)});
  }
  out.documents.insert(out.documents.begin(), {"grades.md", table});
  return out;
}

}  // namespace membound::exchange
