// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/handout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "grader/base/files.hpp"

namespace membound::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::vector<Term> kTerms = {{{"SM", "multiprocessor"}, "runs blocks"},
                                  {{"lane"}, "a place, `0` to 31"}};

std::string button(const std::string& id, const std::string& words) {
  return "<button type=\"button\" class=\"term\" popovertarget=\"word-" + id + "\">" + words +
         "</button>";
}

TEST(Terms, AreTheWordsOfTheGpuWithAllTheirNames) {
  const auto terms = gpu_terms(
      "# Glossary\n\n**case** — left out\n\n## Of the GPU\n\n**lane** — a place\nin a **warp**.\n\n"
      "**SM**, **multiprocessor** — runs blocks.\n\n## Of the grader\n\n**bar** — left out\n");
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_THAT(terms[0].words, ElementsAre("lane"));
  EXPECT_EQ(terms[0].meaning, "a place in a **warp**.");
  EXPECT_THAT(terms[1].words, ElementsAre("SM", "multiprocessor"));
}

TEST(Terms, UnfoldWhatTheyMeanAtTheirFirstPlaceUnderAHeading) {
  EXPECT_EQ(
      with_terms("<h2>One lane</h2><p>Two lanes, a lane.</p><h2>Two</h2><p>A lane</p>", kTerms),
      "<h2>One lane</h2><p>Two " + button("lane", "lanes") + ", a lane.</p><h2>Two</h2><p>A " +
          button("lane", "lane") +
          "</p><div class=\"meaning\" id=\"word-lane\" popover=\"auto\"><strong>lane</strong>: a "
          "place, <code>0</code> to 31</div>\n");
  EXPECT_THAT(with_terms("<p>A multiprocessor</p>", kTerms),
              HasSubstr(button("SM", "multiprocessor")));
}

TEST(Terms, KeepTheBracketBeforeThem) {
  EXPECT_THAT(with_terms("<p>Threads (lanes) of a warp</p>", kTerms),
              StartsWith("<p>Threads <span class=\"kept\">(" + button("lane", "lanes") +
                         "</span>) of a warp</p>"));
}

TEST(Terms, AreNotFoundInsideOfOtherWordsCodeOrControls) {
  for (const char* html :
       {"<p>planes SMs_ lane_of laned</p>", "<p><code>lane</code></p>", "<a href=\"#\">lane</a>",
        "<p><strong>lane</strong> is a lane</p>", "<pre><code><span>lane</span></code></pre>",
        "<details><summary>lane</summary></details>", "<p title=\"lane\">x</p>"})
    EXPECT_EQ(with_terms(html, kTerms), html);
}

TEST(Terms, UnfoldInATableIfNothingElseExplainsThem) {
  const std::string table = "<table><tr><td>lane</td><td>lanes</td></tr></table>";
  EXPECT_THAT(with_terms("<h2>A</h2>" + table + "<h2>B</h2>" + table, kTerms),
              StartsWith("<h2>A</h2><table><tr><td>" + button("lane", "lane") +
                         "</td><td>lanes</td></tr></table><h2>B</h2>" + table));
  EXPECT_THAT(with_terms(table + "<p>A lane</p>", kTerms), StartsWith(table));
  EXPECT_EQ(with_terms(table + "<p><strong>lane</strong></p>", kTerms),
            table + "<p><strong>lane</strong></p>");
}

TEST(Terms, OfTwoWordsMayHaveALinesEndBetween) {
  const std::vector<Term> terms = {{{"shared memory"}, "of a block"}};
  EXPECT_THAT(with_terms("<p>in shared\nmemory</p>", terms), HasSubstr(">shared\nmemory</button>"));
}

TEST(Terms, BeginASentence) {
  EXPECT_THAT(with_terms("<p>Lanes</p>", kTerms), HasSubstr(button("lane", "Lanes")));
}

TEST(Terms, OfTheGlossaryHaveOneMeaningEach) {
  const auto text =
      base::read_file(std::filesystem::path(MEMBOUND_SOURCE_DIR) / "docs/glossary.md");
  ASSERT_TRUE(text);
  std::set<std::string> words;
  for (const Term& term : gpu_terms(*text)) {
    EXPECT_THAT(term.meaning, Not(IsEmpty())) << term.words.front();
    for (const std::string& word : term.words) EXPECT_TRUE(words.insert(word).second) << word;
  }
  EXPECT_GT(words.size(), 15u);
}

}  // namespace
}  // namespace membound::report
