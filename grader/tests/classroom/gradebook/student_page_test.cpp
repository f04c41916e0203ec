// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/classroom/gradebook/gradebook.hpp"
#include "grader/tests/classroom/gradebook/small_class.hpp"

namespace membound::gradebook {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<Page> student_pages(const Class& all) {
  std::vector<Page> pages;
  for_each_student_page(all, [&](Page page) { pages.push_back(std::move(page)); });
  return pages;
}

TEST(StudentPages, AreOneForEachStudentWithAllTheirLabs) {
  course::Grade other = wrong("a");
  other.lab = "04-reduction";
  other.result.title = "Add up an array";
  const auto pages = student_pages({"GPU 2026", {passed("a"), passed("b"), other}, {}});
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0].name, "students/a.html");
  EXPECT_THAT(pages[0].html, HasSubstr("Transpose a matrix"));
  EXPECT_THAT(pages[0].html, HasSubstr("Add up an array"));
  EXPECT_THAT(pages[1].html, Not(HasSubstr("Add up an array")));
}

TEST(StudentPages, ShowNobodyElse) {
  const auto pages = student_pages({"GPU 2026", {passed("ada"), passed("grace")}, {}});
  EXPECT_THAT(pages[0].html, Not(HasSubstr("grace")));
}

TEST(StudentPages, ShowTheWriteUpWithItsMarks) {
  course::Grade grade = passed("a");
  EXPECT_THAT(student_pages({"GPU 2026", {grade}, {}})[0].html, Not(HasSubstr("Write-up")));
  grade.write_up = {{{"table", 4, "a row <per stage>"}, 3.5, "clear"},
                    {{"limit", 3, "what limits it"}, {}, ""}};
  Class all{"GPU 2026", {grade}, {}};
  all.write_up = [](const std::string& digest) { return "## table & " + digest.substr(0, 3); };
  const std::string html = student_pages(all)[0].html;
  EXPECT_THAT(html, HasSubstr("<td>table</td><td>a row &lt;per stage&gt;</td>"
                              "<td class=\"number\">3.50 / 4</td><td>clear</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">not marked / 3</td>"));
  EXPECT_THAT(html, HasSubstr("<pre>## table &amp; bbb</pre>"));
}

TEST(StudentPages, ExplainTheStageThatFailed) {
  const auto pages = student_pages({"GPU 2026", {wrong("a")}, {}});
  EXPECT_THAT(pages[0].html, HasSubstr("element 7 is 1, not 2"));
  EXPECT_THAT(pages[0].html, HasSubstr("<pre>in[0] &amp; &lt;out&gt;</pre>"));
}

TEST(StudentPages, SayOnceWhatATestSaid) {
  course::Grade grade = wrong("a");
  grade.result.stages[0].tests[0].message = grade.result.stages[0].findings[0].text;
  const std::string html = student_pages({"GPU 2026", {grade}, {}})[0].html;
  const auto first = html.find("element 7 is 1, not 2");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(html.find("element 7 is 1, not 2", first + 1), std::string::npos);
}

TEST(StudentPages, ShowTheLineThatAFindingIsAboutAndTheNextCommand) {
  course::Grade grade = wrong("a");
  course::Finding& finding = grade.result.stages[0].findings[0];
  finding.file = "/course/kernel.cu";
  finding.line = 24;
  finding.advice = "guard the last block";
  Class all{"GPU 2026", {grade, passed("b")}, {}};
  all.source_line = [](const std::string& digest, int line) {
    return digest == std::string(64, 'b') && line == 24 ? "out[i] = a < b;" : "";
  };
  const auto pages = student_pages(all);
  EXPECT_THAT(pages[0].html, HasSubstr("Line 24: element 7 is 1, not 2"));
  EXPECT_THAT(pages[0].html, HasSubstr("<pre class=\"line\">out[i] = a &lt; b;</pre>"));
  EXPECT_THAT(pages[0].html, HasSubstr("guard the last block"));
  EXPECT_THAT(pages[0].html, HasSubstr("<code>./membound check 03-transpose/1</code>"));
  EXPECT_THAT(pages[1].html, Not(HasSubstr("./membound check"))) << "all is passed";
}

TEST(StudentPages, FoldAllFailedTestsButTheFirst) {
  course::Grade grade = wrong("a");
  auto& tests = grade.result.stages[0].tests;
  for (const char* name : {"Second", "Third"}) {
    tests.push_back(tests[0]);
    tests.back().name = name;
  }
  const std::string html = student_pages({"GPU 2026", {grade}, {}})[0].html;
  const auto fold = html.find("<summary>2 more that failed</summary>");
  ASSERT_NE(fold, std::string::npos);
  EXPECT_LT(html.find("<b class=\"poor\">MovesOneElement"), fold);
  EXPECT_GT(html.find("Second"), fold);
}

TEST(StudentPages, ShowWhatTheAccessesOfAFailedStageCost) {
  course::Grade grade = slow("a", 0.3);
  course::SourceLine line;
  line.line = 24;
  line.access = "store";
  line.instance = "float";
  line.unit = "sectors";
  line.per_request = 32;
  line.ideal_per_request = 4;
  grade.result.stages[0].source_lines = {line};
  const auto pages = student_pages({"GPU 2026", {grade}, {}});
  EXPECT_THAT(pages[0].html,
              HasSubstr("<td>24</td><td>store (float)</td><td class=\"number\">32.0 sectors</td>"
                        "<td class=\"number\">4.0</td>"));
}

TEST(StudentPages, ExplainTheTotal) {
  course::Grade other = wrong("a");
  other.lab = "04-reduction";
  other.score = 8.5;
  Class all{"GPU 2026", {passed("a"), other}};
  all.counting.weights = {{"03-transpose", 0.3}, {"04-reduction", 0.2}};
  EXPECT_THAT(student_pages(all)[0].html,
              HasSubstr("<b>Total</b> 100 × 0.3 + 85 × 0.2 = 47 of 50"));
}

TEST(StudentPages, ShowMarksOfStagesBesideTheirVerdicts) {
  course::Grade grade = slow("a", 0.3);
  grade.mark = course::HandMark{7, "", "2026-11-22", 0.0, {{1, 7, "fair", "2026-11-22", 0}}};
  grade.score = 7;
  EXPECT_THAT(student_pages({"GPU", {grade}})[0].html, HasSubstr("7.00 ✎ / 10"));
}

TEST(StudentPages, ShowCommentsAtTheirLines) {
  Class all{"GPU", {passed("a"), passed("b")}};
  all.comments = {{"a", "03-transpose", 24, "out[i] = <in>;", "what if n is odd?"},
                  {"a", "03-transpose", 30, "x", "gone", true}};
  const auto pages = student_pages(all);
  EXPECT_THAT(pages[0].html, HasSubstr("24</span>  out[i] = &lt;in&gt;;</pre>"));
  EXPECT_THAT(pages[0].html, HasSubstr("what if n is odd?"));
  EXPECT_THAT(pages[0].html, HasSubstr("of an earlier text"));
  EXPECT_THAT(pages[1].html, Not(HasSubstr("odd")));
}

TEST(StudentPages, SayThatALabIsExcused) {
  course::Grade grade = passed("a");
  grade.score.reset();
  grade.excused = true;
  grade.note = "excused: ill";
  const std::string html = student_pages({"GPU", {grade, passed("b")}})[0].html;
  EXPECT_THAT(html, HasSubstr("<b>excused</b>points"));
  EXPECT_THAT(html, HasSubstr("0 = 0 of 0; left out: 03-transpose (excused)"));
}

TEST(StudentPages, WithholdTheScoreOfASuspiciousOne) {
  const auto pages = student_pages({"GPU 2026", {suspicious("a")}, {}});
  EXPECT_THAT(pages[0].html, HasSubstr("<b>withheld</b>points"));
}

}  // namespace
}  // namespace membound::gradebook
