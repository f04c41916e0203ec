// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/gradebook/gradebook.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "grader/base/digest.hpp"
#include "grader/base/strings.hpp"
#include "grader/classroom/gradebook/page_parts.hpp"
#include "grader/course/grade.hpp"

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
  for (const double score : lab.forgotten_scores) scores.push_back(score);
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
    base::add_word(text, std::to_string(count) + " " + verdict);
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
    list.push_back({{"page", link_to(page_of(grade->student))},
                    {"student", shown_student(*grade)},
                    {"ratio", ratio_text(grade->ratio)},
                    {"stage", slowest_stage(*grade)}});
  return list;
}

json likenesses_of(const Class& all, const std::string& lab) {
  json list = json::array();
  for (const Likeness& likeness : all.likenesses) {
    if (likeness.lab != lab) continue;
    const std::string students = base::joined(likeness.students);
    list.push_back({{"students", students},
                    {"percent", decimal(100 * likeness.least_alike, 0)},
                    {"with", likeness.with}});
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
  const std::string device = base::joined(devices);
  json values = {{"title", lab.title},
                 {"id", lab.id},
                 {"graded", std::to_string(lab.grades.size() - missing)},
                 {"missing", std::to_string(missing)},
                 {"forgotten", lab.forgotten_scores.empty()
                                   ? ""
                                   : ", " + std::to_string(lab.forgotten_scores.size()) +
                                         " of people who were removed"},
                 {"device", device.empty() ? "none" : device},
                 {"charts", charts_of(lab)},
                 {"stages", stages_of(lab)},
                 {"findings", faults_of(lab.grades, kShownFindings)},
                 {"slowest", slowest_of(lab)},
                 {"likenesses", likenesses_of(all, lab.id)}};
  for (const char* list : {"findings", "slowest", "likenesses"})
    values[std::string("has_") + list] = !values[list].empty();
  return values;
}

json row_of(const course::Grade& grade) {
  return {{"page", link_to(page_of(grade.student))},
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
  for (const LabGrades& lab : labs_of(all)) {
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

/// The points that a person gave the stage; nothing: nobody did.
std::optional<double> marked_points(const course::Grade& grade, int stage) {
  if (grade.mark)
    for (const course::StageMark& mark : grade.mark->stages)
      if (mark.stage == stage) return mark.points;
  return std::nullopt;
}

json stage_row(const course::Grade& grade, const course::StageResult& stage) {
  const auto marked = marked_points(grade, stage.stage);
  return {{"name", std::to_string(stage.stage) + ". " + stage.title},
          {"points", decimal(marked.value_or(stage.points), 2) + (marked ? " ✎" : "") + " / " +
                         decimal(stage.max_points, 0)},
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

/// What was found, with the student's line that it is about.
json finding_of(const Class& all, const course::Grade& grade, const course::Finding& finding) {
  const bool own = finding.file.empty() || finding.file.ends_with("kernel.cu");
  std::string line;
  if (own && finding.line > 0 && all.source_line)
    line = all.source_line(grade.submission_sha256, finding.line);
  return {{"text",
           (finding.line > 0 ? "Line " + std::to_string(finding.line) + ": " : "") + finding.text},
          {"code", line},
          {"advice", finding.advice}};
}

/// A stage that was not passed: why, and what its accesses cost.
json detail_of(const Class& all, const course::Grade& grade, const course::StageResult& stage) {
  json findings = json::array(), tests = json::array(), more = json::array(), lines = json::array();
  // A finding that says what a failed test said is shown once, as the test's message.
  const auto is_said = [&stage](const course::Finding& finding) {
    return std::any_of(stage.tests.begin(), stage.tests.end(), [&](const auto& test) {
      return finding.line == 0 && test.failed() && test.name == finding.test &&
             test.message == finding.text;
    });
  };
  for (const course::Finding& finding : stage.findings)
    if (!is_said(finding)) findings.push_back(finding_of(all, grade, finding));
  // The first one is the easiest to understand; most of the others fail for the same reason.
  for (const course::TestOutcome& test : stage.tests) {
    const bool is_told =
        std::any_of(stage.findings.begin(), stage.findings.end(), [&](const auto& finding) {
          return finding.line > 0 && finding.test == test.name && finding.text == test.message;
        });
    if (test.failed() && !is_told)
      (tests.empty() ? tests : more).push_back({{"name", test.name}, {"message", test.message}});
  }
  for (const course::SourceLine& line : stage.source_lines) lines.push_back(line_of(line));
  const bool has_lines = !lines.empty(), has_more = !more.empty();
  const std::string more_count = std::to_string(more.size());
  return {{"name", std::to_string(stage.stage) + ". " + stage.title},
          {"findings", std::move(findings)},
          {"tests", std::move(tests)},
          {"has_more", has_more},
          {"more_count", more_count},
          {"more", std::move(more)},
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

/// The student's next command: the first stage that is not passed; empty: all are.
std::string next_command(const course::Grade& grade) {
  if (!grade.verdict || grade.excused) return "";
  for (const course::StageResult& stage : grade.result.stages)
    if (!stage.passed()) return "./membound check " + grade.lab + "/" + std::to_string(stage.stage);
  return grade.result.stages.empty() ? "./membound check " + grade.lab : "";
}

/// What a person wrote at lines of what the student handed in for the lab.
json comments_of(const Class& all, const course::Grade& grade) {
  json list = json::array();
  for (const LineComment& comment : all.comments)
    if (comment.student == grade.student && comment.lab == grade.lab)
      list.push_back({{"line", std::to_string(comment.line)},
                      {"source", comment.source},
                      {"old", comment.is_old ? "of an earlier text" : ""},
                      {"text", comment.text}});
  return list;
}

/// The rubric with what a person decided, and the text that was handed in.
json write_up_of(const Class& all, const course::Grade& grade) {
  json rows = json::array();
  for (const course::WriteUpMark& mark : grade.write_up)
    rows.push_back({{"name", mark.item.item},
                    {"asks", mark.item.asks},
                    {"points", (mark.points ? decimal(*mark.points, 2) : "not marked") + " / " +
                                   decimal(mark.item.points, 0)},
                    {"comment", mark.comment}});
  return {{"rows", std::move(rows)},
          {"text", all.write_up ? all.write_up(grade.submission_sha256) : ""}};
}

json lab_of(const Class& all, const course::Grade& grade) {
  json stages = json::array(), details = json::array();
  for (const course::StageResult& stage : grade.result.stages) {
    stages.push_back(stage_row(grade, stage));
    if (!stage.passed()) details.push_back(detail_of(all, grade, stage));
  }
  const bool has_stages = !stages.empty();
  json comments = comments_of(all, grade);
  const bool has_comments = !comments.empty();
  return {{"title", grade.result.title.empty() ? grade.lab : grade.result.title},
          {"score", score_text(grade)},
          {"tone", tone(grade.verdict)},
          {"verdict", verdict_text(grade)},
          {"ratio", ratio_text(grade.ratio)},
          {"summary", summary_of(grade)},
          {"has_stages", has_stages},
          {"stages", std::move(stages)},
          {"details", std::move(details)},
          {"has_comments", has_comments},
          {"comments", std::move(comments)},
          {"has_write_up", !grade.write_up.empty()},
          {"write_up", write_up_of(all, grade)},
          {"compiler", grade.result.compiler_output},
          {"next", next_command(grade)},
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
  const course::CourseTable table = course::course_table(all.grades, all.worth, all.counting);
  std::map<std::string, std::string> totals;
  for (const course::CourseRow& row : table.rows)
    totals[row.any->student] = course::total_text(table, row);
  for (const std::string& student : students) {
    json values = {{"class", all.title}, {"labs", json::array()}, {"total", totals[student]}};
    for (const course::Grade* grade : grades[student]) {
      values["student"] = shown_student(*grade);
      values["labs"].push_back(lab_of(all, *grade));
    }
    take({page_of(student), filled("student", values)});
  }
}

namespace {

/// Every word by which a text may call the person, the longest first.
std::vector<std::string> words_for(const course::Grade& grade) {
  constexpr std::size_t kTooShort = 3;  // "al" is in too many other words
  std::vector<std::string> words;
  for (const std::string& word : {grade.student_name, grade.student_email, grade.student})
    if (word.size() >= kTooShort) words.push_back(word);
  std::stable_sort(words.begin(), words.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return words;
}

void replace_all(const std::vector<std::string>& words, const std::string& by, std::string& text) {
  for (const std::string& word : words)
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
      text.replace(at, word.size(), by);
}

}  // namespace

std::map<std::string, Pseudonym> make_anonymous(Class& all, const std::string& salt) {
  std::map<std::string, Pseudonym> people;
  std::set<std::string> taken;
  for (const course::Grade& grade : all.grades) {
    const auto [known, is_new] = people.try_emplace(grade.student);
    if (!is_new) continue;
    const std::string digits = base::hmac_sha256(salt, "pseudonym " + grade.student);
    std::size_t length = 6;
    while (!taken.insert("Student " + digits.substr(0, length)).second) ++length;
    known->second = {"Student " + digits.substr(0, length), grade.student_name,
                     grade.student_email};
  }
  const auto called = [&people](std::string& student) {
    if (const auto found = people.find(student); found != people.end())
      student = found->second.shown;
  };
  for (course::Grade& grade : all.grades) {
    const auto words = words_for(grade);
    const std::string shown = people.at(grade.student).shown;
    replace_all(words, shown, grade.note);
    replace_all(words, shown, grade.unmatched);
    if (grade.mark) replace_all(words, shown, grade.mark->comment);
    for (LineComment& comment : all.comments)
      if (comment.student == grade.student) replace_all(words, shown, comment.text);
    for (Request& request : all.requests)
      if (request.student == grade.student) replace_all(words, shown, request.reason);
  }
  std::map<std::string, std::string> sections;
  for (const auto& [student, section] : all.sections) {
    std::string shown = student;
    called(shown);
    sections[shown] = section;
  }
  all.sections = std::move(sections);
  for (course::Grade& grade : all.grades) {
    called(grade.student);
    for (std::string& id : grade.may_be) called(id);
    for (std::string* field :
         {&grade.student_name, &grade.student_email, &grade.platform, &grade.platform_id,
          &grade.origin, &grade.result.submission, &grade.group})
      field->clear();
  }
  for (LineComment& comment : all.comments) called(comment.student);
  for (Request& request : all.requests) called(request.student);
  for (Likeness& likeness : all.likenesses)
    for (std::string& student : likeness.students) called(student);
  return people;
}

std::vector<std::string> sections_of(const Class& all) {
  std::set<std::string> names;
  for (const auto& [student, section] : all.sections)
    if (!section.empty()) names.insert(section);
  return {names.begin(), names.end()};
}

Class of_section(const Class& all, const std::string& section) {
  const auto is_in = [&](const std::string& student) {
    const auto found = all.sections.find(student);
    return found != all.sections.end() && found->second == section;
  };
  Class some = all;
  some.title = all.title + ", section " + section;
  some.sections.clear();
  some.forgotten.clear();  // nobody knows of which section they were
  std::erase_if(some.grades, [&](const auto& one) { return !is_in(one.student); });
  std::erase_if(some.comments, [&](const auto& one) { return !is_in(one.student); });
  std::erase_if(some.requests, [&](const auto& one) { return !is_in(one.student); });
  std::erase_if(some.likenesses, [&](const Likeness& one) {
    return std::none_of(one.students.begin(), one.students.end(), is_in);
  });
  return some;
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
  for (const LabGrades& lab : labs_of(all))
    if (json rows = rows_of(lab, names, salt); !rows.empty())
      labs.push_back({{"title", lab.title},
                      {"are_equal", all_are_equal(rows)},
                      {"differ", !all_are_equal(rows)},
                      {"rows", std::move(rows)}});
  return {"leaderboard.html",
          filled("leaderboard", {{"title", all.title + ": leaderboard"}, {"labs", labs}})};
}

}  // namespace membound::gradebook
