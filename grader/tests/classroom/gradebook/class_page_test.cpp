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

TEST(ClassPage, SaysOnAPhoneThatATableGoesOn) {
  EXPECT_THAT(html_of({passed("a")}), HasSubstr("more to the right"));
}

TEST(ClassPage, IsTheSameForTheSameGrades) {
  EXPECT_EQ(html_of({passed("a"), wrong("b")}), html_of({passed("a"), wrong("b")}));
}

TEST(ClassPage, NeedsNothingFromTheNetwork) {
  EXPECT_THAT(html_of({passed("a")}), Not(HasSubstr("http")));
}

std::string first_page(Class all) { return class_page(all).html; }

/// What stands between two headings of the first page; empty where the first is missing.
std::string part(const std::string& html, const std::string& heading) {
  const auto start = html.find(">" + heading + "</h2>");
  if (start == std::string::npos) return "";
  return html.substr(start, html.find("</section>", start) - start);
}

TEST(ClassPage, SaysWhoHasNothingAndWhy) {
  course::Grade missing = passed("e");
  missing.verdict.reset();
  missing.score = 0;
  missing.note = "the folder is empty";
  course::Grade twice = missing, other = missing;
  twice.student = other.student = "f";
  other.lab = "04-reduction";
  other.note = "nothing submitted";
  course::Grade there = passed("e");
  there.lab = "04-reduction";
  const std::string nothing =
      part(first_page({"GPU", {passed("a"), missing, there, twice, other}}), "Who has nothing");
  EXPECT_THAT(nothing, HasSubstr("e</a></td><td>03-transpose</td><td class=\"why\">the folder is "
                                 "empty</td>"));
  EXPECT_THAT(nothing, HasSubstr("f</a></td><td>all labs</td><td class=\"why\">nothing submitted; "
                                 "the folder is empty</td>"));
  EXPECT_THAT(nothing, Not(HasSubstr("students/a.html")));
  EXPECT_EQ(part(first_page({"GPU", {passed("a")}}), "Who has nothing"), "");
}

TEST(ClassPage, ListsEachReasonWhyAPersonMustLook) {
  course::Grade unmatched = passed("u"), unsafe = passed("r"), doubtful = passed("d"),
                near = slow("n", 0.74), far = slow("far", 0.4), reaches = slow("i", 0.6);
  unmatched.unmatched = "not in the roster";
  unsafe.verdict = course::GradeVerdict::kFailUnsafe;
  unsafe.note = "stage 3: a race";
  doubtful.note = "look at stage 2: near the ceiling";
  reaches.result.stages[0].ratio_low = 0.5;
  reaches.result.stages[0].ratio_high = 0.8;
  const std::string html =
      part(first_page({"GPU",
                       {unmatched, unsafe, doubtful, near, far, reaches, suspicious("s")},
                       {},
                       {},
                       {},
                       {},
                       {{"a", "03-transpose", "it passed here", "unchanged"},
                        {"b", "03-transpose", "", "marked by hand"}}}),
           "A person must look");
  const auto row = [](const std::string& what, const std::string& student) {
    return what + "</td><td><a href=\"students/" + student + ".html\">";
  };
  EXPECT_THAT(html, HasSubstr(row("score withheld", "s")));
  EXPECT_THAT(html, HasSubstr(row("not matched", "u")));
  EXPECT_THAT(html, HasSubstr(row("right by luck", "r")));
  EXPECT_THAT(html, HasSubstr(row("to look at", "d")));
  EXPECT_THAT(html, HasSubstr(row("near a bar", "n")));
  EXPECT_THAT(html, HasSubstr("stage 1 has 0.740 of the 0.75 it needs"));
  EXPECT_THAT(html, HasSubstr(row("near a bar", "i"))) << "its interval reaches the bar";
  EXPECT_THAT(html, Not(HasSubstr("students/far.html")));
  EXPECT_THAT(html, HasSubstr(row("asked to look again", "a")));
  for (const char* command : {"membound mark STUDENT LAB", "membound grade --resume --sheet FILE",
                              "membound explain STUDENT", "membound grade --resume --regrade"})
    EXPECT_THAT(html, HasSubstr(std::string("<code>") + command)) << "the next step";
  EXPECT_THAT(html, Not(HasSubstr("students/b.html"))) << "a person decided";
}

TEST(ClassPage, APersonsDecisionSettlesWhatNeededOne) {
  course::Grade near = slow("n", 0.74), withheld = suspicious("s");
  near.mark = course::HandMark{10, "", "", 0};
  near.score = 10;
  withheld.score.reset();
  withheld.excused = true;
  EXPECT_EQ(part(first_page({"GPU", {near, withheld}}), "A person must look"), "");
}

TEST(ClassPage, CountsFaultsAndNothingElse) {
  course::Grade remarkable = passed("a"), slowly = slow("b", 0.3);
  course::Finding finding;
  finding.kind = "bank-conflicts";
  finding.text = "32 banks";
  remarkable.result.stages[0].findings = {finding};  // it passed all the same
  for (const char* kind : {"near-ceiling", "beyond-reference", "idle-multiprocessors", "remark"}) {
    finding.kind = kind;
    slowly.result.stages[0].findings.push_back(finding);
  }
  EXPECT_EQ(part(first_page({"GPU", {remarkable, slowly}}), "What went wrong most often"), "");
  const std::string html =
      part(first_page({"GPU", {remarkable, slowly, wrong("c")}}), "What went wrong most often");
  EXPECT_THAT(html,
              HasSubstr("failed test MovesOneElement<br><span class=\"soft\">" + wrong("c").lab));
  EXPECT_THAT(html, Not(HasSubstr("ceiling")));
}

TEST(ClassPage, ShowsTheErrorOfWhatDoesNotCompile) {
  course::Grade broken = wrong("c");
  broken.verdict = course::GradeVerdict::kCompileError;
  broken.note = "kernel.cu:3:10: error: expected an expression";
  course::StageResult& stage = broken.result.stages[0];
  stage.verdict = course::Verdict::kCompileError;
  stage.findings.resize(1);
  stage.findings[0].kind = "compile-error";
  stage.findings[0].text = "Begin with the first error.";
  EXPECT_THAT(part(first_page({"GPU", {broken}}), "What went wrong most often"),
              testing::AllOf(HasSubstr(broken.note), Not(HasSubstr("Begin with"))));
}

TEST(ClassPage, ShowsEachLabsDistributionWithThoseWhoWereRemoved) {
  course::Grade other = passed("a");
  other.lab = "04-reduction";
  Class all{"GPU", {passed("a"), passed("b"), other}};
  all.forgotten = {{"03-transpose", 10.0}, {"03-transpose", std::nullopt}};
  const std::string html = part(class_page(all).html, "Each lab");
  EXPECT_THAT(html, HasSubstr("03-transpose, points"));
  EXPECT_THAT(html, HasSubstr("04-reduction, points"));
  EXPECT_THAT(html, HasSubstr("9 to 10: 3</title>")) << "two that are there, and one more";
  EXPECT_THAT(lab_pages(all)[0].html,
              HasSubstr("2 graded, 0 missing, 1 of people who were removed"));
}

TEST(ClassPage, ListsTheDearestTextsOnce) {
  course::Grade quick = passed("q"), dear = passed("d"), same = passed("e");
  quick.result.seconds = 2;
  quick.submission_sha256 = std::string(64, 'c');
  dear.result.seconds = same.result.seconds = 90.25;
  const std::string html =
      part(first_page({"GPU", {quick, dear, same}}), "What took longest to grade");
  EXPECT_LT(html.find("students/d.html"), html.find("students/q.html"));
  EXPECT_THAT(html, HasSubstr("90.2"));
  EXPECT_THAT(html, Not(HasSubstr("students/e.html"))) << "the same text";
}

TEST(AnonymousClass, NobodyIsNamedAndEverybodyIsTheSameInEachReport) {
  course::Grade grade = passed("ada7"), other = wrong("grace");
  grade.student_name = "Ada Lovelace";
  grade.student_email = "ada@x.org";
  grade.platform_id = "4701";
  grade.origin = "in/Ada Lovelace_4701/kernel.cu";
  grade.note = "not in the roster: Ada Lovelace";
  grade.mark = course::HandMark{10, "well done, Ada Lovelace", "", 10};
  Class all{"GPU", {grade, other}, {{"03-transpose", {"ada7", "grace"}, 0.9}}};
  all.comments = {{"ada7", "03-transpose", 3, "int i;", "ada7: why?"}};
  all.requests = {{"ada7", "03-transpose", "Ada Lovelace asks", "unchanged"}};
  Class again = all;
  const auto people = make_anonymous(all, "salt");
  ASSERT_EQ(people.size(), 2U);
  EXPECT_EQ(people.at("ada7").name, "Ada Lovelace");
  const std::string shown = people.at("ada7").shown;
  EXPECT_EQ(make_anonymous(again, "salt").at("ada7").shown, shown);
  std::string html = class_page(all).html;
  for (const Page& page : lab_pages(all)) html += page.name.string() + page.html;
  for_each_student_page(all, [&](const Page& page) { html += page.name.string() + page.html; });
  for (const char* word : {"Ada", "ada7", "ada@x.org", "4701", "grace"})
    EXPECT_THAT(html, Not(HasSubstr(word)));
  EXPECT_THAT(html, HasSubstr(shown));
  EXPECT_EQ(all.grades[0].mark->comment, "well done, " + shown);
}

TEST(ClassPage, LinksToFilesWhoseNamesHoldASpace) {
  Class all{"GPU", {passed("Jane Doe")}};
  all.sections = {{"Jane Doe", "Mon 10"}};
  std::string file;
  for_each_student_page(all, [&](const Page& page) { file = page.name.string(); });
  EXPECT_EQ(file, "students/Jane%20Doe.html");
  EXPECT_THAT(class_page(all).html, HasSubstr("href=\"students/Jane%2520Doe.html\""));
  EXPECT_THAT(class_page(all).html, HasSubstr("href=\"sections/Mon%252010/index.html\""));
}

TEST(Sections, HaveReportsOfTheirOwn) {
  Class all{"GPU", {passed("a"), wrong("b"), slow("c", 0.5)}, {{"03-transpose", {"a", "b"}, 0.9}}};
  all.sections = {{"a", "Mon"}, {"b", "Tue"}, {"c", "Tue"}};
  EXPECT_EQ(sections_of(all), (std::vector<std::string>{"Mon", "Tue"}));
  EXPECT_THAT(class_page(all).html, HasSubstr("sections/Tue/index.html"));
  const Class tuesday = of_section(all, "Tue");
  EXPECT_EQ(tuesday.grades.size(), 2U);
  EXPECT_EQ(tuesday.likenesses.size(), 1U) << "a likeness with another section is one of both";
  const std::string html = class_page(tuesday).html;
  EXPECT_THAT(html, HasSubstr("GPU, section Tue"));
  EXPECT_THAT(html, HasSubstr("<b>2</b>students"));
  EXPECT_THAT(html, Not(HasSubstr("students/a.html")));
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
