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

std::string html_of(std::vector<course::Grade> grades, std::vector<Likeness> likenesses = {}) {
  const Class all{"GPU 2026", std::move(grades), std::move(likenesses)};
  std::string html = class_page(all).html;
  for (const Page& page : lab_pages(all)) html += page.html;
  return html;
}

TEST(ClassPage, CountsTheClass) {
  course::Grade missing = passed("e");
  missing.verdict.reset();
  missing.score = 0;
  const std::string html =
      html_of({passed("a"), slow("b", 0.3), wrong("c"), suspicious("d"), missing});
  EXPECT_THAT(html, HasSubstr("<b>5</b>students"));
  EXPECT_THAT(html, HasSubstr("<b>4</b>submissions graded"));
  EXPECT_THAT(html, HasSubstr("<b>1</b>passed"));
  EXPECT_THAT(html, HasSubstr("<b>1</b>withheld"));
  EXPECT_THAT(html, HasSubstr("<b>1</b>nothing submitted"));
}

TEST(ClassPage, IsATableOfStudentsAndLabsWithTotals) {
  course::Grade other = passed("a"), late = passed("b"), marked = suspicious("c");
  other.lab = "04-reduction";
  late.score = 8;
  late.late_by_seconds = 3600;
  late.late_factor = 0.8;
  marked.score = 7;
  marked.mark = course::HandMark{7, "looked at", "2026-11-22T08:00:00Z", {}};
  const Class all{
      "GPU", {passed("a"), other, late, marked, suspicious("d")}, {}, {{"04-reduction", 5}}};
  const std::string html = class_page(all).html;
  EXPECT_THAT(html, HasSubstr("labs/04-reduction.html"));
  EXPECT_THAT(html, HasSubstr("<b>15.00</b>")) << "10 and 10 of 10 as 5";
  EXPECT_THAT(html, HasSubstr("8.00 <span class=\"soft\">-20 %</span>"));
  EXPECT_THAT(html, HasSubstr("7.00 ✎"));
  EXPECT_THAT(html, HasSubstr("<b>0.00 ?</b>"));
  EXPECT_THAT(lab_pages(all)[0].html, HasSubstr("<td class=\"number\">-20 %</td>"));
}

TEST(ClassPage, PutsWhatAPersonMustDecideFirst) {
  const std::string html = html_of({passed("a"), suspicious("d")});
  EXPECT_THAT(html, HasSubstr("A person must look"));
  EXPECT_LT(html.find("A person must look"), html.find("Transpose a matrix"));
  EXPECT_THAT(html, HasSubstr("faster than the device can be"));
  EXPECT_THAT(html_of({passed("a")}), Not(HasSubstr("A person must look")));
}

TEST(ClassPage, TellsForEachStageHowManyPassedAndWhatTheOthersMet) {
  const std::string html = html_of({passed("a"), slow("b", 0.3), wrong("c"), slow("d", 0.4)});
  EXPECT_THAT(html, HasSubstr("1. One thread an element"));
  EXPECT_THAT(html, HasSubstr("1 of 4"));
  EXPECT_THAT(html, HasSubstr("2 slow, 1 wrong"));
}

TEST(ClassPage, CountsAFindingOnceForAStudent) {
  course::Grade twice = wrong("a");
  twice.result.stages.push_back(twice.result.stages[0]);
  const std::string html = html_of({twice, wrong("b")});
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">2</td><td>failed test MovesOneElement</td>"));
}

TEST(ClassPage, ListsTheSlowestFirst) {
  const std::string html = html_of({slow("quick", 0.7), slow("sluggish", 0.1), passed("a")});
  const std::string list = html.substr(html.find("Right, and slowest"));
  EXPECT_LT(list.find("sluggish"), list.find("quick"));
}

TEST(ClassPage, LeavesTheMapOfWrongElementsToTheStudentsPage) {
  course::Grade grade = wrong("a");
  course::Finding finding;
  finding.kind = "failed_test";
  finding.text = "first wrong: row 1\n  got 0\n  expected 32\nwhere:\n.xXX";
  grade.result.stages[0].findings = {finding};
  const std::string html = html_of({grade});
  EXPECT_THAT(html, HasSubstr("first wrong: row 1\n  got 0\n  expected 32</td>"));
  EXPECT_THAT(html, Not(HasSubstr(".xXX")));
}

TEST(ClassPage, ShowsLikenessesBelowTheirLab) {
  const std::string html =
      html_of({passed("a"), passed("b")}, {{"03-transpose", {"a", "b"}, 0.93}});
  EXPECT_THAT(html, HasSubstr("<li>a, b <span class=\"soft\">(93 % alike or more)"));
  EXPECT_THAT(html, HasSubstr("Likeness is no proof"));
}

TEST(ClassPage, NeverPrintsAStudentsNameAsMarkup) {
  course::Grade grade = passed("<script>alert(1)</script>");
  grade.student_name = "<img src=x onerror=alert(1)>";
  grade.note = "\"><b>";
  const std::string html = html_of({grade});
  EXPECT_THAT(html, Not(HasSubstr("<script>")));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
  EXPECT_THAT(html, Not(HasSubstr("<b>\"")));
}

TEST(ClassPage, IsTheSameForTheSameGrades) {
  EXPECT_EQ(html_of({passed("a"), wrong("b")}), html_of({passed("a"), wrong("b")}));
}

TEST(ClassPage, NeedsNothingFromTheNetwork) {
  EXPECT_THAT(html_of({passed("a")}), Not(HasSubstr("http")));
}

TEST(ClassPage, OfAnEmptyClassIsAPage) { EXPECT_THAT(html_of({}), HasSubstr("<b>0</b>students")); }

TEST(ClassPage, OfPeopleWhoHandedInNothingIsAPage) {
  course::Grade missing = passed("e");
  missing.verdict.reset();
  missing.score = 0;
  missing.ratio.reset();
  missing.result.stages.clear();
  EXPECT_THAT(html_of({missing}), HasSubstr("MISSING"));
}

}  // namespace
}  // namespace membound::gradebook
