// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/page_parts.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "grader/base/digest.hpp"
#include "grader/base/filled_template.hpp"
#include "grader/base/result.hpp"
#include "grader/base/strings.hpp"

namespace membound::gradebook {

std::string filled(std::string_view template_name, nlohmann::json values) {
  values["style"] = std::string(template_text("style")) + std::string(template_text("class_pages"));
  values["narrow"] = template_text("narrow");
  auto page = base::filled_template(std::string(template_text(template_name)), values,
                                    base::Quoting::kHtml);
  MEMBOUND_CHECK(page.ok());
  return *std::move(page);
}

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? decimal(*ratio, 3) : "";
}

std::string score_text(const course::Grade& grade) {
  if (grade.excused) return "excused";
  return grade.score ? decimal(*grade.score, 2) + " / " + decimal(grade.max_score, 0) : "withheld";
}

std::string verdict_text(const course::Grade& grade) {
  return grade.verdict ? std::string(course::to_string(*grade.verdict)) : "MISSING";
}

std::string tone(const std::optional<course::GradeVerdict>& verdict) {
  if (verdict == course::GradeVerdict::kPass) return "good";
  return verdict == course::GradeVerdict::kFailSlow ? "fair" : "poor";
}

std::string tone(course::Verdict verdict) { return tone(course::row_of(verdict).grade); }

std::string words(std::string_view identifier) {
  std::string text(identifier);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '_' || c == '-'; }, ' ');
  return text;
}

std::string late_percent(const course::Grade& grade) {
  if (grade.late_by_seconds <= 0 || grade.late_factor >= 1) return "";
  return "-" + decimal(100 * (1 - grade.late_factor), 0) + " %";
}

std::string page_of_lab(const std::string& lab) { return "labs/" + base::file_name(lab) + ".html"; }

std::string link_to(const std::string& page) {
  std::string link;
  for (const char c : page) link += c == '%' ? std::string("%25") : std::string(1, c);
  return link;
}

std::string page_of_section(const std::string& section) {
  return "sections/" + base::file_name(section) + "/index.html";
}

std::string page_of(const std::string& student) {
  return "students/" + base::file_name(student) + ".html";
}

std::vector<LabGrades> labs_of(const Class& all) {
  std::map<std::string, LabGrades> labs;
  for (const course::Grade& grade : all.grades) {
    LabGrades& lab = labs[grade.lab];
    lab.id = grade.lab;
    if (!grade.result.title.empty()) lab.title = grade.result.title;
    lab.grades.push_back(&grade);
  }
  for (const ForgottenGrade& one : all.forgotten)
    if (const auto lab = labs.find(one.lab); lab != labs.end() && one.score)
      lab->second.forgotten_scores.push_back(*one.score);
  std::vector<LabGrades> list;
  for (auto& [id, lab] : labs) {
    if (lab.title.empty()) lab.title = id;
    list.push_back(std::move(lab));
  }
  return list;
}

namespace {

/// Worth knowing about, or about what was predicted: nobody did anything wrong.
bool is_fault(const course::StageResult& stage, const course::Finding& finding) {
  if (stage.passed() || stage.verdict == course::Verdict::kInfraError) return false;
  for (const std::string_view kind :
       {course::kRemark, course::kNearCeiling, course::kBeyondReference, course::kMostlyIdleSms})
    if (finding.kind == kind) return false;
  return true;
}

/// What went wrong, without the map of wrong elements below it: that is on the student's page.
std::string beginning(const std::string& text) {
  constexpr int kLines = 3;
  std::size_t end = 0;
  for (int line = 0; line < kLines && end != std::string::npos; ++line)
    end = text.find('\n', end == 0 ? 0 : end + 1);
  return text.substr(0, end);
}

}  // namespace

nlohmann::json faults_of(std::span<const course::Grade* const> grades, std::size_t most) {
  struct Row {
    std::string kind, example;
    std::set<std::string> students, labs;
  };
  std::map<std::string, Row> kinds;
  for (const course::Grade* grade : grades)
    for (const course::StageResult& stage : grade->result.stages)
      for (const course::Finding& finding : stage.findings) {
        if (!is_fault(stage, finding)) continue;
        const std::string kind =
            words(finding.kind) + (finding.test.empty() ? "" : " " + finding.test);
        Row& row = kinds[kind];
        row.kind = kind;
        // Of what did not compile the note has the error itself, the finding how to go on.
        const bool compiled = stage.verdict != course::Verdict::kCompileError;
        if (row.students.empty())
          row.example = beginning(compiled || grade->note.empty() ? finding.text : grade->note);
        row.students.insert(grade->student);
        row.labs.insert(grade->lab);
      }
  std::vector<Row> rows;
  for (auto& [kind, row] : kinds) rows.push_back(std::move(row));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.students.size() > b.students.size();
  });
  rows.resize(std::min(rows.size(), most));
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    const std::string labs = base::joined(row.labs);
    list.push_back({{"count", std::to_string(row.students.size())},
                    {"kind", row.kind},
                    {"labs", labs},
                    {"example", row.example}});
  }
  return list;
}

/// The stage whose ratio is the grade's.
std::string slowest_stage(const course::Grade& grade) {
  for (const course::StageResult& stage : grade.result.stages)
    if (stage.correct && stage.ratio == grade.ratio) return stage.title;
  return "";
}

namespace {

constexpr double kLeft = 10, kRight = 310, kFloor = 125, kTallest = 100, kGap = 2;

}  // namespace

nlohmann::json histogram(const std::string& caption, std::span<const double> values,
                         const Axis& axis) {
  std::vector<int> counts(static_cast<std::size_t>(axis.bins));
  const double step = (axis.high - axis.low) / axis.bins;
  for (const double value : values) {
    const double bin = step > 0 ? (value - axis.low) / step : 0;
    ++counts[static_cast<std::size_t>(std::clamp(bin, 0.0, axis.bins - 1.0))];
  }
  const int most = std::max(1, *std::max_element(counts.begin(), counts.end()));
  const double width = (kRight - kLeft) / axis.bins;
  nlohmann::json bars = nlohmann::json::array(), ticks = nlohmann::json::array();
  for (int i = 0; i < axis.bins; ++i) {
    const int count = counts[static_cast<std::size_t>(i)];
    const double height = kTallest * count / most, x = kLeft + i * width;
    bars.push_back({{"x", decimal(x + kGap / 2, 1)},
                    {"y", decimal(kFloor - height, 1)},
                    {"width", decimal(width - kGap, 1)},
                    {"height", decimal(height, 1)},
                    {"middle", decimal(x + width / 2, 1)},
                    {"above", decimal(kFloor - height - 4, 1)},
                    {"count", std::to_string(count)},
                    {"shown", count > 0},
                    {"range", decimal(axis.low + i * step, axis.digits) + " to " +
                                  decimal(axis.low + (i + 1) * step, axis.digits)}});
  }
  for (int i = 0; i <= axis.bins; i += 2)
    ticks.push_back({{"x", decimal(kLeft + i * width, 1)},
                     {"label", decimal(axis.low + i * step, axis.digits)}});
  return {{"caption", caption}, {"bars", bars}, {"ticks", ticks}};
}

}  // namespace membound::gradebook
