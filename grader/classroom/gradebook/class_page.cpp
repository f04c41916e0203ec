// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The first page of a class, in the order of an instructor's questions.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "grader/base/strings.hpp"
#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/classroom/gradebook/page_parts.hpp"
#include "grader/course/grade.hpp"

namespace membound::gradebook {
namespace {

using nlohmann::json;

constexpr std::size_t kShownFaults = 8, kShownTexts = 10;
constexpr std::size_t kShownOfAKind = 40;   ///< of what needs a person
constexpr std::size_t kShownMissing = 100;  ///< students with nothing in some lab
constexpr double kNearBar = 0.02;           ///< of the reference's speed

json class_facts(const Class& all) {
  std::set<std::string> students;
  std::size_t passed = 0, withheld = 0, missing = 0;
  for (const course::Grade& grade : all.grades) {
    students.insert(grade.student);
    passed += grade.verdict == course::GradeVerdict::kPass ? 1U : 0U;
    withheld += grade.undecided() ? 1U : 0U;
    missing += grade.verdict ? 0U : 1U;
  }
  const auto fact = [](std::size_t value, const char* label) -> json {
    return {{"value", std::to_string(value)}, {"label", label}};
  };
  return {fact(students.size(), "students"),
          fact(all.grades.size() - missing, "submissions graded"), fact(passed, "passed"),
          fact(withheld, "withheld"), fact(missing, "nothing submitted")};
}

/// Points depend on which side of a bar a measured speed fell, and it may be chance.
std::string near_bar(const course::Grade& grade) {
  if (grade.mark) return "";
  std::string text;
  for (const course::StageResult& stage : grade.result.stages) {
    if (!stage.ratio || !stage.correct || stage.max_points <= 0) continue;
    for (const double bar : {stage.pass_ratio, stage.full_ratio}) {
      if (bar <= 0) continue;
      const double low = stage.ratio_low.value_or(*stage.ratio),
                   high = stage.ratio_high.value_or(*stage.ratio);
      // A bar is missed or met: only who is below it loses something.
      if (*stage.ratio >= bar || (high < bar && bar - *stage.ratio > kNearBar)) continue;
      base::add_word(
          text,
          "stage " + std::to_string(stage.stage) + " has " + ratio_text(stage.ratio) + " of the " +
              decimal(bar, 2) + " it needs" +
              (low < high ? " (" + ratio_text(low) + " to " + ratio_text(high) + ")" : ""),
          "; ");
      break;
    }
  }
  return text;
}

/// One kind of what needs a person; `why` is empty for a grade that does not. `command`: what to
/// do, where DIR is the folder that was graded into.
struct Concern {
  const char* what;
  std::string (*why)(const course::Grade& grade);
  const char *does, *command;
};

constexpr const char* kMark = "membound mark STUDENT LAB --points N --comment TEXT --out DIR";
constexpr const char* kExplain = "membound explain STUDENT --out DIR";
constexpr const char* kAskedToLook = "asked to look again";

constexpr Concern kConcerns[] = {
    {"score withheld",
     [](const course::Grade& grade) {
       return grade.undecided()
                  ? verdict_text(grade) + (grade.note.empty() ? "" : ": ") + grade.note
                  : std::string();
     },
     "decide the points, or repeat the verdict first with membound explain:", kMark},
    {"not matched", [](const course::Grade& grade) { return grade.unmatched; },
     "give a table that tells who is who:", "membound grade --resume --sheet FILE --out DIR"},
    {"right by luck",
     [](const course::Grade& grade) {
       return grade.verdict == course::GradeVerdict::kFailUnsafe && !grade.mark ? grade.note
                                                                                : std::string();
     },
     "decide whether the points stand:", kMark},
    {"to look at",
     [](const course::Grade& grade) {
       const auto at = grade.note.find("look at stage ");
       return at == std::string::npos || grade.mark ? std::string() : grade.note.substr(at);
     },
     "see what the verdict rests on:", kExplain},
    {"near a bar", near_bar,
     "measure once more:", "membound grade --resume --regrade STUDENT --lab LAB --out DIR"},
};

/// What needs a person, by kind. What is more than can be read ends with a count.
json attention_of(const Class& all, json& commands) {
  json rows = json::array();
  commands = json::array();
  const auto add = [&rows](const std::string& student, const std::string& shown,
                           const std::string& lab, const char* what, const std::string& why) {
    rows.push_back({{"page", student.empty() ? "" : link_to(page_of(student))},
                    {"student", shown},
                    {"lab", lab},
                    {"what", what},
                    {"why", why}});
  };
  for (const Concern& concern : kConcerns) {
    std::size_t found = 0;
    for (const course::Grade& grade : all.grades) {
      if (grade.excused) continue;
      const std::string why = concern.why(grade);
      if (why.empty() || ++found > kShownOfAKind) continue;
      add(grade.student, shown_student(grade), grade.lab, concern.what, why);
    }
    if (found > 0)
      commands.push_back(
          {{"what", concern.what}, {"does", concern.does}, {"command", concern.command}});
    if (found > kShownOfAKind)
      add("", "and " + std::to_string(found - kShownOfAKind) + " more", "", concern.what,
          "grades.csv has all");
  }
  bool was_asked = false;
  for (const Request& request : all.requests) {
    if (request.decision == "changed" || request.decision == "marked by hand") continue;
    was_asked = true;
    add(request.student, request.student, request.lab, kAskedToLook,
        request.reason + (request.reason.empty() ? "" : " — ") + request.decision);
  }
  if (was_asked)
    commands.push_back(
        {{"what", kAskedToLook}, {"does", "answer with a mark:"}, {"command", kMark}});
  return rows;
}

/// Who handed in nothing for which labs, and what is known of why.
json missing_of(const Class& all) {
  struct Row {
    std::string shown, labs;
    std::set<std::string> whys;
    std::size_t count = 0;
  };
  std::map<std::string, Row> students;
  std::map<std::string, std::size_t> rows;
  for (const course::Grade& grade : all.grades) {
    ++rows[grade.student];
    if (grade.is_there()) continue;
    Row& row = students[grade.student];
    row.shown = shown_student(grade);
    base::add_word(row.labs, grade.lab);
    row.whys.insert(grade.note);
    ++row.count;
  }
  json list = json::array();
  for (const auto& [student, row] : students) {
    if (list.size() == kShownMissing) {
      list.push_back(
          {{"page", ""},
           {"student", "and " + std::to_string(students.size() - kShownMissing) + " more"},
           {"labs", ""},
           {"why", "grades.csv has all"}});
      break;
    }
    const std::string why = base::joined(row.whys, "; ");
    list.push_back({{"page", link_to(page_of(student))},
                    {"student", row.shown},
                    {"labs", row.count == rows[student] && row.count > 1 ? "all labs" : row.labs},
                    {"why", why}});
  }
  return list;
}

json distributions_of(const std::vector<LabGrades>& labs) {
  json charts = json::array();
  for (const LabGrades& lab : labs) {
    std::vector<double> scores = lab.forgotten_scores;
    double most = 0;
    for (const course::Grade* grade : lab.grades) {
      if (grade->score && grade->verdict) scores.push_back(*grade->score);
      most = std::max(most, grade->max_score);
    }
    if (scores.empty()) continue;
    json chart = histogram(lab.id + ", points", scores, {0, most, 10, 0});
    chart["page"] = link_to(page_of_lab(lab.id));
    charts.push_back(std::move(chart));
  }
  return charts;
}

json text_row(const course::Grade& grade, const std::string& number, const std::string& what) {
  return {{"page", link_to(page_of(grade.student))},
          {"student", shown_student(grade)},
          {"lab", grade.lab},
          {"number", number},
          {"what", what}};
}

/// Right, and far from the reference.
json slowest_texts(const Class& all) {
  std::vector<const course::Grade*> right;
  for (const course::Grade& grade : all.grades)
    if (grade.ratio && grade.verdict == course::GradeVerdict::kFailSlow) right.push_back(&grade);
  std::stable_sort(right.begin(), right.end(),
                   [](const auto* a, const auto* b) { return *a->ratio < *b->ratio; });
  right.resize(std::min(right.size(), kShownTexts));
  json list = json::array();
  for (const course::Grade* grade : right)
    list.push_back(text_row(*grade, ratio_text(grade->ratio), slowest_stage(*grade)));
  return list;
}

/// What took longest to grade, each text once.
json dearest_texts(const Class& all) {
  std::vector<const course::Grade*> texts;
  std::set<std::string> seen;
  for (const course::Grade& grade : all.grades)
    if (grade.result.seconds > 0 && seen.insert(grade.submission_sha256 + grade.lab).second)
      texts.push_back(&grade);
  std::stable_sort(texts.begin(), texts.end(), [](const auto* a, const auto* b) {
    return a->result.seconds > b->result.seconds;
  });
  texts.resize(std::min(texts.size(), kShownTexts));
  json list = json::array();
  for (const course::Grade* grade : texts)
    list.push_back(
        text_row(*grade, decimal(grade->result.seconds, 1) + " s", verdict_text(*grade)));
  return list;
}

json cell_of(const course::CourseCell& cell) {
  const bool dropped = cell.part == course::Part::kDropped;
  if (cell.grade == nullptr || !cell.grade->is_there())
    return {{"points", dropped ? "(–)" : "–"},
            {"tone", "soft"},
            {"why", "nothing submitted"},
            {"late", ""}};
  const course::Grade& grade = *cell.grade;
  if (grade.excused)
    return {{"points", "excused"}, {"tone", "soft"}, {"why", grade.note}, {"late", ""}};
  const std::string points =
      (cell.points ? decimal(*cell.points, 2) : "?") + (grade.mark ? " ✎" : "");
  return {{"points", dropped ? "(" + points + ")" : points},
          {"tone", tone(grade.verdict)},
          {"why", verdict_text(grade) + (grade.note.empty() ? "" : ": " + grade.note)},
          {"late", late_percent(grade)}};
}

json course_row(const course::CourseTable& table, const course::CourseRow& row) {
  json cells = json::array();
  for (const course::CourseCell& cell : row.cells) cells.push_back(cell_of(cell));
  return {{"page", link_to(page_of(row.any->student))},
          {"student", shown_student(*row.any)},
          {"cells", std::move(cells)},
          {"why", course::total_text(table, row)},
          {"total", decimal(row.total, 2) + (row.withheld > 0 ? " ?" : "")},
          {"of", row.worth != table.worth ? "of " + decimal(row.worth, 2) : std::string()}};
}

void add_table(const Class& all, json& values) {
  const course::CourseTable table = course::course_table(all.grades, all.worth, all.counting);
  values["worth"] = decimal(table.worth, 2);
  values["labs"] = json::array();
  values["rows"] = json::array();
  for (const course::CourseTable::Column& lab : table.labs)
    values["labs"].push_back(
        {{"page", link_to(page_of_lab(lab.lab))},
         {"title", lab.title},
         {"id", lab.lab},
         {"worth", decimal(lab.worth, 2) +
                       (table.has_weights ? " × " + decimal(lab.weight, 2) : std::string())}});
  for (const course::CourseRow& row : table.rows) values["rows"].push_back(course_row(table, row));
}

}  // namespace

Page class_page(const Class& all) {
  std::string last;
  std::vector<const course::Grade*> grades;
  for (const course::Grade& grade : all.grades) {
    last = std::max(last, grade.graded_at);
    grades.push_back(&grade);
  }
  json commands;
  const json attention = attention_of(all, commands);
  json values = {{"title", all.title},
                 {"subtitle", last.empty() ? "" : "Last graded " + last},
                 {"facts", class_facts(all)},
                 {"sections", json::array()},
                 {"attention", attention},
                 {"commands", commands},
                 {"missing", missing_of(all)},
                 {"faults", faults_of(grades, kShownFaults)},
                 {"charts", distributions_of(labs_of(all))},
                 {"slowest", slowest_texts(all)},
                 {"dearest", dearest_texts(all)},
                 {"footer", kFooter}};
  for (const std::string& name : sections_of(all))
    values["sections"].push_back({{"page", link_to(page_of_section(name))}, {"name", name}});
  for (const char* list :
       {"sections", "attention", "missing", "faults", "charts", "slowest", "dearest"})
    values[std::string("has_") + list] = !values[list].empty();
  add_table(all, values);
  return {"index.html", filled("class", values)};
}

}  // namespace membound::gradebook
