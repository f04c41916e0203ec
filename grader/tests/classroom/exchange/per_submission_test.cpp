// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The formats with a file for each submission, against what the platforms document.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <pugixml.hpp>
#include <set>

#include "grader/classroom/exchange/exchange.hpp"
#include "grader/tests/classroom/exchange/grades.hpp"
#include "grader/tests/classroom/exchange/gradescope_rules.hpp"

namespace membound::exchange {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

json json_of(const Export& result, const std::string& name) {
  return json::parse(text_of(result, name));
}

// --- Gradescope --------------------------------------------------------------------------------

TEST(GradescopeExport, KeepsTheRulesForEveryVerdict) {
  const Export result =
      exported("gradescope", {passed("a"), failed("b"), uncompiled("c", "error: expected ;")});
  ASSERT_EQ(result.documents.size(), 3U);
  for (const Document& document : result.documents)
    expect_gradescope_accepts(json::parse(document.text));
}

TEST(GradescopeExport, ShowsAStageAsATestThatFailed) {
  const json results =
      json_of(exported("gradescope", {failed("b")}), "b/03-transpose/results.json");
  EXPECT_EQ(results["score"], 4);
  EXPECT_EQ(results["tests"][1]["status"], "failed");
  EXPECT_THAT(results["tests"][1]["output"].get<std::string>(),
              HasSubstr("TellsRowsFromColumns: element 7 is 1, not 2"));
}

TEST(GradescopeExport, NeverReadsAStudentsTextAsMarkup) {
  const json results = json_of(exported("gradescope", {uncompiled("c", "<b>bold</b>")}),
                               "c/03-transpose/results.json");
  EXPECT_EQ(results["output_format"], "text");
  EXPECT_EQ(results["test_output_format"], "text");
}

TEST(GradescopeExport, WritesNothingForAWithheldScore) {
  const Export result = exported("gradescope", {suspicious("a"), missing("b")});
  EXPECT_THAT(result.documents, IsEmpty());
  EXPECT_THAT(result.left_out, ElementsAre(HasSubstr("withheld")));
}

TEST(GradescopeResults, OfAWithheldScoreHaveNone) {
  const json results = gradescope_results(suspicious("a"));
  expect_gradescope_accepts(results, false);
  EXPECT_THAT(results["output"].get<std::string>(), HasSubstr("Your instructor has to look"));
}

TEST(GradescopeResults, OfWhatCannotBeGradedAreZeroWithTheReason) {
  const json results = gradescope_refusal("there is no kernel.cu");
  expect_gradescope_accepts(results);
  EXPECT_EQ(results["score"], 0);
  EXPECT_EQ(results["output"], "there is no kernel.cu");
}

// --- PrairieLearn ------------------------------------------------------------------------------

TEST(PrairieLearnExport, ScoresFromZeroToOne) {
  const json results =
      json_of(exported("prairielearn", {failed("b")}), "b/03-transpose/results.json");
  EXPECT_DOUBLE_EQ(results["score"].get<double>(), 0.4);
  EXPECT_EQ(results["gradable"], true);
  EXPECT_EQ(results["tests"][1]["max_points"], 6);
}

TEST(PrairieLearnExport, CostsNoAttemptWhereNothingCouldBeGraded) {
  const Export result =
      exported("prairielearn", {uncompiled("c", "error: expected ;"), suspicious("d")});
  const json uncompiled_results = json_of(result, "c/03-transpose/results.json");
  EXPECT_EQ(uncompiled_results["gradable"], false);
  EXPECT_EQ(uncompiled_results["format_errors"][0], "error: expected ;");
  const json withheld = json_of(result, "d/03-transpose/results.json");
  EXPECT_EQ(withheld["gradable"], false);
  EXPECT_FALSE(withheld.contains("score"));
}

TEST(PrairieLearnExport, StaysBelowAMegabyte) {
  const Export result = exported("prairielearn", {uncompiled("c", std::string(3'000'000, 'x')),
                                                  failed("d", std::string(3'000'000, 'y'))});
  for (const Document& document : result.documents) EXPECT_LE(document.text.size(), 1'000'000U);
}

// --- Autolab -----------------------------------------------------------------------------------

TEST(AutolabExport, EndsWithTheScoresOnOneLine) {
  const Export result = exported("autolab", {failed("b")});
  std::string text = text_of(result, "b/03-transpose.txt");
  ASSERT_EQ(text.back(), '\n');
  text.pop_back();
  const json last = json::parse(text.substr(text.rfind('\n') + 1));
  EXPECT_EQ(last["scores"]["03-transpose"], 4);
  EXPECT_EQ(last["scoreboard"].size(), json_of(result, "scoreboard.json")["scoreboard"].size());
}

// --- Classroom 50 ------------------------------------------------------------------------------

Settings course_facts() {
  Settings settings;
  settings.context = {{"classroom", "gpu-2026"},
                      {"release", "v1"},
                      {"review", nullptr},
                      {"students", {{"b", {{"commit", "abc"}, {"submission", "submit/1"}}}}}};
  return settings;
}

TEST(Classroom50Export, HoldsEveryRequiredFieldAndWholeScores) {
  const json result =
      json_of(exported("classroom50", {failed("b")}, course_facts()), "b/03-transpose/result.json");
  for (const char* key :
       {"schema", "classroom", "assignment", "assignment_type", "owner", "submission", "commit",
        "release", "review", "datetime", "score", "max-score", "tests"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_EQ(result["schema"], "classroom50/result/v1");
  EXPECT_TRUE(result["score"].is_number_integer());
  EXPECT_EQ(result["score"], 400);
  EXPECT_EQ(result["max-score"], 1000);
  for (const json& test : result["tests"]) EXPECT_LE(test["score"], test["max-score"]);
}

TEST(Classroom50Export, IsDatedBySubmissionSoThatARegradeChangesNothing) {
  const json result =
      json_of(exported("classroom50", {failed("b")}, course_facts()), "b/03-transpose/result.json");
  EXPECT_EQ(result["datetime"], "2026-11-20T10:00:00Z");
}

TEST(Classroom50Export, NamesTheFactThatIsMissing) {
  EXPECT_THAT(refusal("classroom50", {failed("c")}, course_facts()),
              HasSubstr("no \"commit\" for c"));
}

// --- JUnit -------------------------------------------------------------------------------------

TEST(JunitExport, CountsWhatItHolds) {
  const Export result = exported(
      "junit", {passed("a"), failed("b"), uncompiled("c", "error"), suspicious("d"), missing("e")});
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(text_of(result, "junit.xml").c_str()));
  const pugi::xml_node suites = document.child("testsuites");
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  for (const pugi::xml_node suite : suites.children("testsuite"))
    for (const pugi::xml_node test_case : suite.children("testcase")) {
      ++tests;
      failures += test_case.child("failure") ? 1 : 0;
      errors += test_case.child("error") ? 1 : 0;
      skipped += test_case.child("skipped") ? 1 : 0;
    }
  EXPECT_EQ(suites.attribute("tests").as_int(), tests);
  EXPECT_EQ(suites.attribute("failures").as_int(), failures);
  EXPECT_EQ(suites.attribute("errors").as_int(), errors);
  EXPECT_EQ(suites.attribute("skipped").as_int(), skipped);
  EXPECT_EQ(failures, 3);  // a wrong one, one that does not compile, one that is missing
  EXPECT_EQ(errors, 1);
  EXPECT_EQ(skipped, 1);
}

TEST(JunitExport, IsXmlWhateverAStudentWrote) {
  const Export result = exported("junit", {failed("b", "</failure>\x01\x1b[31m\" & <x>")});
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(text_of(result, "junit.xml").c_str()));
  EXPECT_THAT(text_of(result, "junit.xml"), Not(HasSubstr("\x1b")));
}

// --- Markdown ----------------------------------------------------------------------------------

TEST(MarkdownExport, ListsTheClassAndEachSubmission) {
  const Export result = exported("markdown", {passed("a", "Ada"), suspicious("d"), missing("e")});
  const std::string table = text_of(result, "grades.md");
  EXPECT_THAT(table, HasSubstr("| Ada \\(a\\) | 03\\-transpose | 10.00 / 10.00 | PASS | 0.99 |"));
  EXPECT_THAT(table, HasSubstr("withheld"));
  EXPECT_THAT(table, HasSubstr("nothing submitted"));
  EXPECT_THAT(text_of(result, "a/03-transpose.md"),
              HasSubstr("| Stage 1: One thread an element |"));
}

TEST(MarkdownExport, NoStudentBreaksOutOfACell) {
  course::Grade grade = passed("a|b\n# c", "<img src=x>");
  const std::string table = text_of(exported("markdown", {grade}), "grades.md");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 5);
  EXPECT_THAT(table, Not(HasSubstr(" <img")));  // it stands behind a backslash
}

TEST(MarkdownExport, NoMessageBreaksOutOfItsBlock) {
  const Export result = exported("markdown", {failed("b", "```\n# injected\n````\n")});
  EXPECT_THAT(text_of(result, "b/03-transpose.md"), HasSubstr("`````text\n"));
}

}  // namespace
}  // namespace membound::exchange
