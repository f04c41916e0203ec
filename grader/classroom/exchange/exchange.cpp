// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/exchange/exchange.hpp"

#include <algorithm>
#include <array>

#include "grader/base/digest.hpp"
#include "grader/base/strings.hpp"

namespace membound::exchange {
namespace {

constexpr std::size_t kMaxTestMessageBytes = 4000;

/// Whether a finding says what the test says: findings are made of failed tests' messages.
bool is_told(const course::StageResult& stage, const course::TestOutcome& test) {
  const std::string start = test.message.substr(0, test.message.find('\n'));
  return std::any_of(stage.findings.begin(), stage.findings.end(), [&](const auto& finding) {
    return finding.test == test.name && finding.text.find(start) != std::string::npos;
  });
}

}  // namespace

std::string folder_of(const course::Grade& grade) {
  return base::file_name(grade.student) + "/" + base::file_name(grade.lab);
}

std::string two_decimals(double value) { return base::decimal(value, 2); }

std::string why_withheld(const course::Grade& grade) {
  const std::string verdict(grade.verdict ? course::to_string(*grade.verdict) : "no verdict");
  if (grade.excused) return shown_student(grade) + ", " + grade.lab + ": " + grade.note;
  return shown_student(grade) + ", " + grade.lab + ": " + verdict + ", the score is withheld" +
         (grade.note.empty() ? "" : " (" + grade.note + ")");
}

std::string stage_name(const course::StageResult& stage) {
  return "Stage " + std::to_string(stage.stage) + ": " + stage.title;
}

std::string stage_text(const course::StageResult& stage) {
  std::string text(course::to_string(stage.verdict));
  std::replace(text.begin(), text.end(), '_', ' ');
  if (stage.ratio)
    text += ", " + two_decimals(*stage.ratio) + " of the reference answer's speed (bar " +
            two_decimals(stage.pass_ratio) + ")";
  for (const course::Finding& finding : stage.findings) text += "\n" + finding.text;
  for (const course::TestOutcome& test : stage.tests)
    if (test.failed() && !is_told(stage, test))
      text += "\n" + test.name + ": " + cut(test.message, kMaxTestMessageBytes);
  return text;
}

std::string summary_beside_stages(const course::Grade& grade) {
  course::Grade rest = grade;
  for (const course::StageResult& stage : grade.result.stages)
    for (const course::Finding& finding : stage.findings) {
      const std::string told = "stage " + std::to_string(stage.stage) + ": " +
                               base::printable(finding.text.substr(0, finding.text.find('\n')));
      const auto place = rest.note.find(told);
      if (place == std::string::npos) continue;
      rest.note.erase(place, told.size());
      if (rest.note.compare(place, 2, "; ") == 0)
        rest.note.erase(place, 2);
      else if (place >= 2)
        rest.note.erase(place - 2);
    }
  return summary(rest);
}

std::string summary(const course::Grade& grade) {
  std::string text = grade.mark      ? "A person decided the points."
                     : grade.verdict ? std::string(course::row_of(*grade.verdict).meaning)
                                     : "Nothing was submitted.";
  if (!grade.note.empty()) text += "\n" + grade.note;
  return text;
}

std::vector<std::string> labs_of(std::span<const course::Grade> grades) {
  std::vector<std::string> labs;
  for (const course::Grade& grade : grades) labs.push_back(grade.lab);
  std::sort(labs.begin(), labs.end());
  labs.erase(std::unique(labs.begin(), labs.end()), labs.end());
  return labs;
}

std::vector<StudentRow> students_of(std::span<const course::Grade> grades,
                                    const std::vector<std::string>& labs) {
  std::vector<StudentRow> rows;
  for (const course::Grade& grade : grades) {
    auto row = std::find_if(rows.begin(), rows.end(), [&grade](const StudentRow& other) {
      return other.any->student == grade.student;
    });
    if (row == rows.end())
      row = rows.insert(rows.end(), {&grade, std::vector<const course::Grade*>(labs.size())});
    const auto lab = std::find(labs.begin(), labs.end(), grade.lab);
    if (lab != labs.end()) row->by_lab[static_cast<std::size_t>(lab - labs.begin())] = &grade;
  }
  return rows;
}

std::string cut(std::string_view text, std::size_t limit_bytes) {
  if (text.size() <= limit_bytes) return std::string(text);
  std::size_t end = limit_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "… (cut)";
}

namespace {

constexpr std::array kFormats = {
#define MEMBOUND_PLATFORM(name, what) Format{#name, what, write_##name},
#include "grader/classroom/exchange/platforms.def"
};

}  // namespace

std::span<const Format> formats() { return kFormats; }

base::Result<Export> write(std::string_view format, std::span<const course::Grade> grades,
                           const Settings& settings) {
  std::string names;
  for (const Format& row : kFormats) {
    if (row.name == format) return row.write(grades, settings);
    base::add_word(names, row.name);
  }
  return base::Error{
      base::ErrorKind::kUsage, "--format", std::string(format), "one of " + names, {}};
}

}  // namespace membound::exchange
