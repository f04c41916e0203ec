// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/handout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/base/result.hpp"

namespace membound::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kHandout =
    "# A lab\n\n## By hand\n\nCount.\n\n<details>\n<summary>How many `x`\nare there?</summary>\n\n"
    "Four.\n</details>\n\n### Reference answers\n\n<details>\n<summary>Stage 2</summary>\n\n"
    "<!-- snippet: solutions/01-lab/kernel.cu#stage-2 -->\n```cpp\nint secret = 1;\n```\n"
    "</details>\n";

std::string html_of(const std::string& markdown) {
  std::vector<Heading> headings;
  return markdown_to_html(markdown, {}, headings);
}

std::string page(const HandoutView& view) {
  const auto body = handout_body(kHandout, "handout.md", view);
  return body ? body->html : base::to_string(body.error());
}

TEST(Folds, KnowQuestionsFromSolutions) {
  const auto sections = sections_of(kHandout, "handout.md");
  ASSERT_TRUE(sections);
  ASSERT_EQ(sections->size(), 5u);
  EXPECT_EQ((*sections)[1].summary, "How many `x` are there?");
  EXPECT_EQ((*sections)[1].text, "\nFour.\n");
  EXPECT_EQ((*sections)[1].line, 10);
  EXPECT_EQ((*sections)[1].solved_stage, 0);
  EXPECT_EQ((*sections)[3].solved_stage, 2);
}

TEST(Folds, AreRefusedWhereTheyDoNotEnd) {
  const auto sections = sections_of("a\n<details>\n<summary>b</summary>\n\nc\n", "handout.md");
  ASSERT_FALSE(sections);
  EXPECT_THAT(base::to_string(sections.error()), HasSubstr("handout.md:4: a fold without an end"));
  EXPECT_FALSE(sections_of("<details>\n\nno summary\n</details>\n", "x"));
  EXPECT_FALSE(sections_of("</details>\n", "x"));
  EXPECT_TRUE(sections_of("```\n<details>\n```\n", "x")) << "code is code";
}

TEST(HandoutPage, FoldsAnswersAway) {
  EXPECT_THAT(page({.lab = "01-lab"}),
              HasSubstr("<details><summary>How many <code>x</code> are there?</summary>\n"
                        "<p>Four.</p>\n</details>"));
}

TEST(HandoutPage, PutsAnswersBehindEverythingOnPaper) {
  const std::string paper = page({.lab = "01-lab", .answers = Answers::kAtTheEnd});
  EXPECT_LT(paper.find("How many"), paper.find("Reference answers"));
  EXPECT_GT(paper.find("Four."), paper.find("<h2 id=\"answers\">"));
  EXPECT_THAT(paper, Not(HasSubstr("<details>")));
}

TEST(HandoutPage, ShowsASolutionOnlyOnceItsStageHasPassed) {
  const std::string before = page({.lab = "01-lab"});
  EXPECT_THAT(before, Not(HasSubstr("secret")));
  EXPECT_THAT(before, HasSubstr("Our answer to stage 2"));
  EXPECT_THAT(page({.lab = "01-lab", .unlocked = [](int stage) { return stage == 2; }}),
              HasSubstr("secret"));
  EXPECT_THAT(page({.lab = "01-lab", .unlocked = [](int stage) { return stage == 1; }}),
              Not(HasSubstr("secret")));
}

TEST(HandoutPage, StandsAloneWithItsContents) {
  const auto body = handout_body(kHandout, "handout.md", {.lab = "01-lab"});
  ASSERT_TRUE(body);
  const std::string whole = standalone_page(*body);
  EXPECT_THAT(whole, HasSubstr("<title>A lab</title>"));
  EXPECT_THAT(whole, HasSubstr("<li><a href=\"#by-hand\">By hand</a></li>"));
  EXPECT_THAT(whole, HasSubstr("list.open = false")) << "on a narrow screen it is in the way";
  EXPECT_THAT(whole, Not(HasSubstr("http")));
}

TEST(MarkdownHtml, GivesEachHeadingAPlaceOfItsOwn) {
  std::vector<Heading> headings;
  (void)markdown_to_html("# One `x`\n\n## Same\n\n## Same\n\n## Own {#mark}\n", {}, headings);
  std::vector<std::string> ids;
  for (const Heading& heading : headings) ids.push_back(heading.id);
  EXPECT_THAT(ids, ElementsAre("one-x", "same", "same-2", "mark"));
  EXPECT_EQ(headings[3].html, "Own");
}

TEST(MarkdownHtml, SetsAFigureWithItsWordsAndItsSize) {
  std::vector<Heading> headings;
  const PageAddresses addresses{
      .link = {}, .figure = [](std::string_view target) {
        return figure_source(
            "<svg width=\"7\" height=\"3.5\"><desc>four &lt; \"five\"</desc></svg>",
            "figures/" + std::string(target));
      }};
  EXPECT_EQ(markdown_to_html("![A *tile*](t.svg)\n", addresses, headings),
            "<figure tabindex=\"0\"><img src=\"figures/t.svg\" alt=\"four &lt; &quot;five&quot;\" "
            "width=\"7\" "
            "height=\"3\"><figcaption>A <em>tile</em></figcaption></figure>\n");
}

TEST(MarkdownHtml, PutsAPictureThatMovesIntoThePageSoThatItKnowsOfPaper) {
  const std::string still = "<svg width=\"7\"></svg>",
                    moving =
                        "<svg width=\"7\"><style>@media screen and "
                        "(prefers-reduced-motion:no-preference){}</style></svg>";
  EXPECT_EQ(figure_source(still, "a.svg").picture, "");
  EXPECT_EQ(figure_source(moving, "a.svg").picture, moving);
}

TEST(MarkdownHtml, LeavesOutALinkThatThePageCannotFollow) {
  std::vector<Heading> headings;
  const PageAddresses addresses{
      .link = [](std::string_view target) { return target == "a" ? "A.html" : ""; }, .figure = {}};
  EXPECT_EQ(markdown_to_html("[one](a) [two](b)\n", addresses, headings),
            "<p><a href=\"A.html\">one</a> two</p>\n");
}

TEST(MarkdownHtml, TellsTextFromTags) {
  EXPECT_EQ(html_of("a < b & `c<d>`\n"), "<p>a &lt; b &amp; <code>c&lt;d&gt;</code></p>\n");
  EXPECT_EQ(html_of("| n |\n| ---: |\n| 1 |\n"),
            "<div class=\"table\" tabindex=\"0\"><table>\n<thead><tr><th "
            "class=\"right\">n</th></tr>\n</thead>\n"
            "<tbody><tr><td class=\"right\">1</td></tr>\n</tbody>\n</table></div>\n");
}

TEST(MarkdownHtml, ColoursCode) {
  EXPECT_EQ(highlighted_cpp("int i = 3;  // a < b\n#include \"x\""),
            "<span class=\"word\">int</span> i = <span class=\"number\">3</span>;  "
            "<span class=\"comment\">// a &lt; b</span>\n<span class=\"word\">#include</span> "
            "<span class=\"text\">&quot;x&quot;</span>");
  EXPECT_EQ(highlighted_cpp("/* open"), "<span class=\"comment\">/* open</span>");
}

}  // namespace
}  // namespace membound::report
