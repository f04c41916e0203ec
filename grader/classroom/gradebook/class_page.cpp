// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/classroom/gradebook/page_words.hpp"
#include "grader/classroom/gradebook/templates.hpp"
#include "grader/course/grade.hpp"

namespace membound::gradebook {
namespace {

using nlohmann::json;

json facts_of(const Class& all) {
  std::set<std::string> students;
  std::size_t passed = 0, withheld = 0, missing = 0;
  for (const course::Grade& grade : all.grades) {
    students.insert(grade.student);
    passed += grade.verdict == course::GradeVerdict::kPass ? 1U : 0U;
    withheld += grade.withheld() ? 1U : 0U;
    missing += grade.verdict ? 0U : 1U;
  }
  const auto fact = [](std::size_t value, const char* label) -> json {
    return {{"value", std::to_string(value)}, {"label", label}};
  };
  return {fact(students.size(), "students"),
          fact(all.grades.size() - missing, "submissions graded"), fact(passed, "passed"),
          fact(withheld, "withheld"), fact(missing, "nothing submitted")};
}

json attention_of(const Class& all) {
  json rows = json::array();
  for (const course::Grade& grade : all.grades)
    if (grade.withheld())
      rows.push_back({{"page", page_of(grade.student)},
                      {"student", shown_student(grade)},
                      {"lab", grade.lab},
                      {"verdict", verdict_text(grade)},
                      {"why", grade.note}});
  return rows;
}

json cell_of(const course::CourseCell& cell) {
  if (cell.grade == nullptr || !cell.grade->is_there())
    return {{"points", "–"}, {"tone", "soft"}, {"why", "nothing submitted"}, {"late", ""}};
  const course::Grade& grade = *cell.grade;
  const std::string points = cell.points ? decimal(*cell.points, 2) : "?";
  return {{"points", points + (grade.mark ? " ✎" : "")},
          {"tone", tone(grade.verdict)},
          {"why", verdict_text(grade) + (grade.note.empty() ? "" : ": " + grade.note)},
          {"late", late_percent(grade)}};
}

json row_of(const course::CourseRow& row) {
  json cells = json::array();
  for (const course::CourseCell& cell : row.cells) cells.push_back(cell_of(cell));
  return {{"page", page_of(row.any->student)},
          {"student", shown_student(*row.any)},
          {"cells", std::move(cells)},
          {"total", decimal(row.total, 2) + (row.withheld > 0 ? " ?" : "")}};
}

}  // namespace

Page class_page(const Class& all) {
  std::string last;
  for (const course::Grade& grade : all.grades) last = std::max(last, grade.graded_at);
  const course::CourseTable table = course::course_table(all.grades, all.worth);
  json values = {{"title", all.title},     {"subtitle", last.empty() ? "" : "Last graded " + last},
                 {"facts", facts_of(all)}, {"attention", attention_of(all)},
                 {"labs", json::array()},  {"worth", decimal(table.worth, 2)},
                 {"rows", json::array()},  {"footer", kFooter}};
  values["has_attention"] = !values["attention"].empty();
  for (const course::CourseTable::Column& lab : table.labs)
    values["labs"].push_back({{"page", page_of_lab(lab.lab)},
                              {"title", lab.title},
                              {"id", lab.lab},
                              {"worth", decimal(lab.worth, 2)}});
  for (const course::CourseRow& row : table.rows) values["rows"].push_back(row_of(row));
  return {"index.html", filled("class", values)};
}

}  // namespace membound::gradebook
