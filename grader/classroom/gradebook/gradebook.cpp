// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/gradebook.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "grader/base/digest.hpp"
#include "grader/classroom/gradebook/page_parts.hpp"
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
    if (grade.withheld() || !grade.unmatched.empty())
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

namespace {

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

namespace {

json stage_row(const course::StageResult& stage) {
  return {{"name", std::to_string(stage.stage) + ". " + stage.title},
          {"points", decimal(stage.points, 2) + " / " + decimal(stage.max_points, 0)},
          {"tone", tone(stage.verdict)},
          {"verdict", words(course::to_string(stage.verdict))},
          {"ratio", ratio_text(stage.ratio)},
          {"bar", decimal(stage.pass_ratio, 2)}};
}

json line_of(const course::SourceLine& line) {
  const bool has_ideal = line.ideal_per_request > 0;
  return {
      {"line", std::to_string(line.line)},
      {"access", line.instance.empty() ? line.access : line.access + " (" + line.instance + ")"},
      {"per_request", decimal(line.per_request, 1) + " " + line.unit},
      {"ideal", has_ideal ? decimal(line.ideal_per_request, 1) : ""}};
}

/// A stage that was not passed: why, and what its accesses cost.
json detail_of(const course::StageResult& stage) {
  json findings = json::array(), tests = json::array(), lines = json::array();
  // A finding that says what a failed test said is shown once, as the test's message.
  const auto is_said = [&stage](const course::Finding& finding) {
    return std::any_of(stage.tests.begin(), stage.tests.end(), [&](const auto& test) {
      return test.failed() && test.name == finding.test && test.message == finding.text;
    });
  };
  for (const course::Finding& finding : stage.findings)
    if (!is_said(finding)) findings.push_back(finding.text);
  for (const course::TestOutcome& test : stage.tests)
    if (test.failed()) tests.push_back({{"name", test.name}, {"message", test.message}});
  for (const course::SourceLine& line : stage.source_lines) lines.push_back(line_of(line));
  const bool has_lines = !lines.empty();
  return {{"name", std::to_string(stage.stage) + ". " + stage.title},
          {"findings", std::move(findings)},
          {"tests", std::move(tests)},
          {"has_lines", has_lines},
          {"lines", std::move(lines)}};
}

json summary_of(const course::Grade& grade) {
  json lines = json::array();
  lines.push_back(grade.verdict ? std::string(course::row_of(*grade.verdict).meaning)
                                : "Nothing was submitted.");
  if (!grade.note.empty()) lines.push_back(grade.note);
  if (const std::string audit = course::audit_text(grade.audit); !audit.empty())
    lines.push_back("Run whole after it was timed by some of its blocks: " + audit + ".");
  return lines;
}

std::string facts_of(const course::Grade& grade) {
  if (!grade.verdict) return "";
  return "Device " + (grade.device.empty() ? "none" : grade.device) + " · graded " +
         grade.graded_at + " · submission " + grade.submission_sha256.substr(0, 12) + " · seed " +
         std::to_string(grade.seed) + (grade.seed_key.empty() ? "" : ", key " + grade.seed_key);
}

json lab_of(const course::Grade& grade) {
  json stages = json::array(), details = json::array();
  for (const course::StageResult& stage : grade.result.stages) {
    stages.push_back(stage_row(stage));
    if (!stage.passed()) details.push_back(detail_of(stage));
  }
  const bool has_stages = !stages.empty();
  return {{"title", grade.result.title.empty() ? grade.lab : grade.result.title},
          {"score", score_text(grade)},
          {"tone", tone(grade.verdict)},
          {"verdict", verdict_text(grade)},
          {"ratio", ratio_text(grade.ratio)},
          {"summary", summary_of(grade)},
          {"has_stages", has_stages},
          {"stages", std::move(stages)},
          {"details", std::move(details)},
          {"compiler", grade.result.compiler_output},
          {"facts", facts_of(grade)}};
}

}  // namespace

void for_each_student_page(const Class& all, const std::function<void(Page)>& take) {
  std::vector<std::string> students;
  std::map<std::string, std::vector<const course::Grade*>> grades;
  for (const course::Grade& grade : all.grades) {
    auto& of_student = grades[grade.student];
    if (of_student.empty()) students.push_back(grade.student);
    of_student.push_back(&grade);
  }
  for (const std::string& student : students) {
    json values = {{"class", all.title}, {"labs", json::array()}};
    for (const course::Grade* grade : grades[student]) {
      values["student"] = shown_student(*grade);
      values["labs"].push_back(lab_of(*grade));
    }
    take({page_of(student), filled("student", values)});
  }
}

namespace {

/// Without the salt, a digest of each id of a class would give the names away.
std::string hidden_name(const std::string& student, const std::string& salt) {
  return "Warp " + base::hmac_sha256(salt, student).substr(0, 6);
}

json rows_of(const LabGrades& lab, Names names, const std::string& salt) {
  std::vector<const course::Grade*> passed;
  for (const course::Grade* grade : lab.grades)
    if (grade->verdict == course::GradeVerdict::kPass && grade->ratio) passed.push_back(grade);
  std::stable_sort(
      passed.begin(), passed.end(),
      [](const course::Grade* a, const course::Grade* b) { return *a->ratio > *b->ratio; });
  json rows = json::array();
  std::size_t rank = 0;
  for (std::size_t i = 0; i < passed.size(); ++i) {
    const std::string ratio = ratio_text(passed[i]->ratio);
    if (i == 0 || ratio != ratio_text(passed[i - 1]->ratio)) rank = i + 1;  // equals share a rank
    rows.push_back({{"rank", std::to_string(rank)},
                    {"who", names == Names::kShown ? shown_student(*passed[i])
                                                   : hidden_name(passed[i]->student, salt)},
                    {"ratio", ratio}});
  }
  return rows;
}

/// Where everybody has the same ratio nobody is first.
bool all_are_equal(const json& rows) { return rows.size() > 1 && rows.back()["rank"] == "1"; }

}  // namespace

Page leaderboard(const Class& all, Names names, const std::string& salt) {
  json labs = json::array();
  for (const LabGrades& lab : by_lab(all.grades))
    if (json rows = rows_of(lab, names, salt); !rows.empty())
      labs.push_back({{"title", lab.title},
                      {"are_equal", all_are_equal(rows)},
                      {"differ", !all_are_equal(rows)},
                      {"rows", std::move(rows)}});
  return {"leaderboard.html",
          filled("leaderboard", {{"title", all.title + ": leaderboard"}, {"labs", labs}})};
}

}  // namespace membound::gradebook
