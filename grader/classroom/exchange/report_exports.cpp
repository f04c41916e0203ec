// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What CI systems and pull requests show: JUnit XML as GoogleTest writes it, and Markdown.
#include <sstream>

#include <pugixml.hpp>

#include "grader/classroom/exchange/exchange.hpp"

namespace membound::exchange {
namespace {

constexpr const char* kIndent = "  ";
/// Stands in the file's frame where the suites belong.
constexpr const char* kSuites = "suites";

struct Count {
  int tests = 0, failures = 0, errors = 0, skipped = 0;
};

void set_counts(pugi::xml_node node, const Count& count) {
  node.append_attribute("tests") = count.tests;
  node.append_attribute("failures") = count.failures;
  node.append_attribute("errors") = count.errors;
  node.append_attribute("skipped") = count.skipped;
}

/// XML 1.0 cannot hold most control characters, however they are written.
std::string xml_text(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    clean += byte < 0x20 && c != '\n' && c != '\t' ? '?' : c;
  }
  return clean;
}

void add_case(pugi::xml_node suite, const std::string& class_name, const course::TestOutcome& test,
              Count& count) {
  pugi::xml_node test_case = suite.append_child("testcase");
  test_case.append_attribute("name") = xml_text(test.name).c_str();
  test_case.append_attribute("classname") = xml_text(class_name).c_str();
  test_case.append_attribute("time") = two_decimals(test.seconds).c_str();
  ++count.tests;
  if (test.passed) return;
  ++(test.skipped ? count.skipped : count.failures);
  pugi::xml_node why = test_case.append_child(test.skipped ? "skipped" : "failure");
  why.append_attribute("message") =
      xml_text(test.message.substr(0, test.message.find('\n'))).c_str();
  why.text().set(xml_text(test.message).c_str());
}

/// A verdict that no test stands for: a text that does not compile, a withheld score.
void add_verdict_case(pugi::xml_node suite, const course::Grade& grade, Count& count) {
  pugi::xml_node test_case = suite.append_child("testcase");
  test_case.append_attribute("name") = "Verdict";
  test_case.append_attribute("classname") = grade.lab.c_str();
  ++count.tests;
  ++(grade.withheld() ? count.errors : count.failures);
  pugi::xml_node why = test_case.append_child(grade.withheld() ? "error" : "failure");
  why.append_attribute("message") =
      grade.verdict ? std::string(course::to_string(*grade.verdict)).c_str() : "MISSING";
  why.text().set(xml_text(summary(grade) + "\n" + grade.result.compiler_output).c_str());
}

Count add_suite(pugi::xml_node suites, const course::Grade& grade) {
  pugi::xml_node suite = suites.append_child("testsuite");
  suite.append_attribute("name") = xml_text(grade.student + "." + grade.lab).c_str();
  suite.append_attribute("timestamp") = grade.graded_at.c_str();
  suite.append_attribute("time") = two_decimals(grade.result.seconds).c_str();
  pugi::xml_node properties = suite.append_child("properties");
  const auto property = [&properties](const char* name, const std::string& value) {
    pugi::xml_node one = properties.append_child("property");
    one.append_attribute("name") = name;
    one.append_attribute("value") = xml_text(value).c_str();
  };
  property("score", grade.score ? two_decimals(*grade.score) : "withheld");
  property("max_score", two_decimals(grade.max_score));
  if (!grade.note.empty()) property("note", grade.note);
  Count count;
  for (const course::StageResult& stage : grade.result.stages)
    for (const course::TestOutcome& test : stage.tests)
      add_case(suite, grade.lab + "." + stage.kernel, test, count);
  const bool told = count.failures > 0 || grade.verdict == course::GradeVerdict::kPass;
  if (!told || grade.withheld()) add_verdict_case(suite, grade, count);
  set_counts(suite, count);
  return count;
}

}  // namespace

// A tree for each suite, not one for all: that of a large class is many times its text.
base::Result<Export> write_junit(Grades grades, const Settings&) {
  std::ostringstream suites;
  Count all;
  for (const course::Grade& grade : grades) {
    pugi::xml_document one;
    const Count count = add_suite(one, grade);
    one.first_child().print(suites, kIndent, pugi::format_default, pugi::encoding_auto, 1);
    all = {all.tests + count.tests, all.failures + count.failures, all.errors + count.errors,
           all.skipped + count.skipped};
  }
  pugi::xml_document frame;
  pugi::xml_node root = frame.append_child("testsuites");
  root.append_attribute("name") = "Membound";
  set_counts(root, all);
  root.append_child(pugi::node_comment).set_value(kSuites);
  std::ostringstream text;
  frame.save(text, kIndent);
  std::string around = std::move(text).str();
  const std::string place = std::string(kIndent) + "<!--" + kSuites + "-->\n";
  around.replace(around.find(place), place.size(), suites.view());
  return Export{{{"junit.xml", std::move(around)}}, {}};
}

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
  if (!grade.score) return grade.excused ? "excused" : "withheld";
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
