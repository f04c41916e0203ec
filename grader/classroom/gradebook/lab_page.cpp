// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/classroom/gradebook/histogram.hpp"
#include "grader/classroom/gradebook/page_words.hpp"
#include "grader/classroom/gradebook/templates.hpp"

namespace membound::gradebook {
namespace {

using nlohmann::json;

constexpr std::size_t kShownFindings = 8, kShownSlowest = 10;

json charts_of(const LabGrades& lab) {
  std::vector<double> scores, ratios;
  double most = 0;
  for (const course::Grade* grade : lab.grades) {
    if (grade->score && grade->verdict) scores.push_back(*grade->score);
    if (grade->ratio) ratios.push_back(*grade->ratio);
    most = std::max(most, grade->max_score);
  }
  json charts = json::array();
  if (!scores.empty()) charts.push_back(histogram("Scores, in points", scores, {0, most, 10, 0}));
  if (!ratios.empty())
    charts.push_back(histogram("Speed of the slowest right stage, as a share of the reference's",
                               ratios, {0, 1.2, 12, 1}));
  return charts;
}

/// "12 slow, 3 wrong".
std::string others_text(const std::map<std::string, std::size_t>& verdicts) {
  std::string text;
  for (const auto& [verdict, count] : verdicts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + verdict;
  return text;
}

json stages_of(const LabGrades& lab) {
  struct Row {
    std::string title;
    std::size_t passed = 0, all = 0;
    std::map<std::string, std::size_t> others;
  };
  std::map<int, Row> rows;
  for (const course::Grade* grade : lab.grades)
    for (const course::StageResult& stage : grade->result.stages) {
      Row& row = rows[stage.stage];
      row.title = stage.title;
      ++row.all;
      if (stage.passed())
        ++row.passed;
      else
        ++row.others[words(course::to_string(stage.verdict))];
    }
  json list = json::array();
  for (const auto& [number, row] : rows)
    list.push_back(
        {{"name", std::to_string(static_cast<std::size_t>(number)) + ". " + row.title},
         {"passed", std::to_string(row.passed)},
         {"all", std::to_string(row.all)},
         {"percent",
          decimal(100.0 * static_cast<double>(row.passed) / static_cast<double>(row.all), 0)},
         {"others", others_text(row.others)}});
  return list;
}

/// What went wrong, without the map of wrong elements below it: that is on the student's page.
std::string beginning(const std::string& text) {
  constexpr int kLines = 3;
  std::size_t end = 0;
  for (int line = 0; line < kLines && end != std::string::npos; ++line)
    end = text.find('\n', end == 0 ? 0 : end + 1);
  return text.substr(0, end);
}

/// A student counts once for a kind, however many stages show it.
json findings_of(const LabGrades& lab) {
  struct Row {
    std::string kind, example;
    std::size_t count = 0;
  };
  std::map<std::string, Row> kinds;
  for (const course::Grade* grade : lab.grades) {
    std::set<std::string> seen;
    for (const course::StageResult& stage : grade->result.stages)
      for (const course::Finding& finding : stage.findings) {
        const std::string kind =
            finding.test.empty() ? words(finding.kind) : words(finding.kind) + " " + finding.test;
        if (!seen.insert(kind).second) continue;
        Row& row = kinds[kind];
        row.kind = kind;
        if (row.count++ == 0) row.example = beginning(finding.text);
      }
  }
  std::vector<Row> rows;
  for (const auto& [kind, row] : kinds) rows.push_back(row);
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.count > b.count; });
  rows.resize(std::min(rows.size(), kShownFindings));
  json list = json::array();
  for (const Row& row : rows)
    list.push_back(
        {{"count", std::to_string(row.count)}, {"kind", row.kind}, {"example", row.example}});
  return list;
}

/// The stage whose ratio is the grade's.
std::string slowest_stage(const course::Grade& grade) {
  for (const course::StageResult& stage : grade.result.stages)
    if (stage.correct && stage.ratio == grade.ratio) return stage.title;
  return "";
}

json slowest_of(const LabGrades& lab) {
  std::vector<const course::Grade*> right;
  for (const course::Grade* grade : lab.grades)
    if (grade->ratio && grade->verdict == course::GradeVerdict::kFailSlow) right.push_back(grade);
  std::stable_sort(right.begin(), right.end(), [](const course::Grade* a, const course::Grade* b) {
    return *a->ratio < *b->ratio;
  });
  right.resize(std::min(right.size(), kShownSlowest));
  json list = json::array();
  for (const course::Grade* grade : right)
    list.push_back({{"page", page_of(grade->student)},
                    {"student", shown_student(*grade)},
                    {"ratio", ratio_text(grade->ratio)},
                    {"stage", slowest_stage(*grade)}});
  return list;
}

json likenesses_of(const Class& all, const std::string& lab) {
  json list = json::array();
  for (const Likeness& likeness : all.likenesses) {
    if (likeness.lab != lab) continue;
    std::string students;
    for (const std::string& student : likeness.students)
      students += (students.empty() ? "" : ", ") + student;
    list.push_back({{"students", students}, {"percent", decimal(100 * likeness.least_alike, 0)}});
  }
  return list;
}

json values_of(const Class& all, const LabGrades& lab) {
  const auto missing = static_cast<std::size_t>(
      std::count_if(lab.grades.begin(), lab.grades.end(),
                    [](const course::Grade* grade) { return !grade->verdict; }));
  std::set<std::string> devices;
  for (const course::Grade* grade : lab.grades)
    if (!grade->device.empty()) devices.insert(grade->device);
  std::string device;
  for (const std::string& name : devices) device += (device.empty() ? "" : ", ") + name;
  json values = {{"title", lab.title},
                 {"id", lab.id},
                 {"graded", std::to_string(lab.grades.size() - missing)},
                 {"missing", std::to_string(missing)},
                 {"device", device.empty() ? "none" : device},
                 {"charts", charts_of(lab)},
                 {"stages", stages_of(lab)},
                 {"findings", findings_of(lab)},
                 {"slowest", slowest_of(lab)},
                 {"likenesses", likenesses_of(all, lab.id)}};
  for (const char* list : {"findings", "slowest", "likenesses"})
    values[std::string("has_") + list] = !values[list].empty();
  return values;
}

json row_of(const course::Grade& grade) {
  return {{"page", page_of(grade.student)},
          {"student", shown_student(grade)},
          {"score", score_text(grade)},
          {"late", late_percent(grade)},
          {"tone", tone(grade.verdict)},
          {"verdict", verdict_text(grade)},
          {"ratio", ratio_text(grade.ratio)},
          {"note", grade.note},
          {"attempt", std::to_string(grade.attempt)}};
}

}  // namespace

std::vector<Page> lab_pages(const Class& all) {
  std::vector<Page> pages;
  for (const LabGrades& lab : by_lab(all.grades)) {
    json values = values_of(all, lab);
    values["class"] = all.title;
    values["footer"] = kFooter;
    values["rows"] = json::array();
    for (const course::Grade* grade : lab.grades) values["rows"].push_back(row_of(*grade));
    pages.push_back({page_of_lab(lab.id), filled("lab", values)});
  }
  return pages;
}

}  // namespace membound::gradebook
