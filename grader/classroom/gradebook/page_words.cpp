// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/page_words.hpp"

#include <algorithm>
#include <map>

namespace membound::gradebook {

std::string ratio_text(const std::optional<double>& ratio) {
  return ratio ? decimal(*ratio, 3) : "";
}

std::string score_text(const course::Grade& grade) {
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

std::string page_of(const std::string& student) {
  return "students/" + base::file_name(student) + ".html";
}

std::vector<LabGrades> by_lab(const std::vector<course::Grade>& grades) {
  std::map<std::string, LabGrades> labs;
  for (const course::Grade& grade : grades) {
    LabGrades& lab = labs[grade.lab];
    lab.id = grade.lab;
    if (!grade.result.title.empty()) lab.title = grade.result.title;
    lab.grades.push_back(&grade);
  }
  std::vector<LabGrades> list;
  for (auto& [id, lab] : labs) {
    if (lab.title.empty()) lab.title = id;
    list.push_back(std::move(lab));
  }
  return list;
}

}  // namespace membound::gradebook
