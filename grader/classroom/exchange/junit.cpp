// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// JUnit XML as GoogleTest writes it, so that every CI system can show it: a suite for each
/// submission, a case for each test of each stage.
#include <pugixml.hpp>
#include <sstream>

#include "grader/classroom/exchange/platforms.hpp"
#include "grader/classroom/exchange/rows.hpp"

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

}  // namespace membound::exchange
