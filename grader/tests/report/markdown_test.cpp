// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/markdown_html.hpp"

#include <gtest/gtest.h>

namespace membound::report {
namespace {

std::string shown(const std::string& text, int width = 40) {
  return render_markdown(text, Style{.colour = false, .unicode = true, .width = width});
}

TEST(Markdown, WrapsParagraphsAndJoinsTheirLines) {
  EXPECT_EQ(shown("one two three\nfour five six seven eight nine ten\n\nnext\n"),
            "one two three four five six seven eight\nnine ten\n\nnext\n");
}

TEST(Markdown, UnderlinesTheTitleAndDropsDoxygensMark) {
  EXPECT_EQ(shown("# A title {#mark}\n\ntext\n\n## More\n"), "A title\n=======\n\ntext\n\nMore\n");
}

TEST(Markdown, KeepsCodeAsItIs) {
  EXPECT_EQ(shown("a\n```cpp\nint  *a; // `b` **c**\n```\nb\n"), "a\n  int  *a; // `b` **c**\nb\n");
  EXPECT_EQ(shown("a\n\n    b  *c*\n\nd\n"), "a\n\n  b  *c*\n\nd\n");
}

TEST(Markdown, BreaksLongCodeAtSpacesAndGoesOnWithItsComment) {
  EXPECT_EQ(shown("```cpp\n  // a comment longer than forty columns are\n```\n"),
            "    // a comment longer than forty\n    // columns are\n");
  EXPECT_EQ(shown("```cpp\nint count = 3;  // blocks of a grid that is wide\n```\n"),
            "  int count = 3;  // blocks of a grid\n      // that is wide\n");
  EXPECT_EQ(shown("```\nout[first] = in[n - 1 - first] + in[first];\n```\n"),
            "  out[first] = in[n - 1 - first] +\n      in[first];\n");
  const std::string word(50, 'x');
  EXPECT_EQ(shown("```\n  " + word + "\n```\n"), "    " + word + "\n") << "a word stays whole";
}

TEST(Markdown, BreaksLongCommandsSoThatTheyCanBePasted) {
  EXPECT_EQ(shown("```sh\nnvcc -O3 -std=c++20 -cudart shared kernel.cu -o kernel\n```\n"),
            "  nvcc -O3 -std=c++20 -cudart shared \\\n      kernel.cu -o kernel\n");
  EXPECT_EQ(shown("```sh\n./membound check reverse/1   # one stage only\n```\n"),
            "  ./membound check reverse/1   # one\n      # stage only\n");
}

TEST(Markdown, DropsTheSignsOfEmphasisButNoOthers) {
  EXPECT_EQ(shown("*so* and **so**, `code *x*`, 2 * 3\n"), "so and so, code *x*, 2 * 3\n");
}

TEST(Markdown, HangsListsUnderTheirMark) {
  EXPECT_EQ(shown("- one two three four\n  five six\n- seven\n10. eight\n", 24),
            "- one two three four\n  five six\n- seven\n10. eight\n");
}

TEST(Markdown, SetsTablesInColumns) {
  EXPECT_EQ(shown("| a | b |\n| --- | ---: |\n| `longer` | 1 |\n| c | two words of text |\n", 26),
            "a                       b\nlonger                  1\nc       two words of text\n");
}

TEST(Markdown, ATableTakesNoMoreThanTheWidth) {
  EXPECT_EQ(
      shown("| one | two |\n| --- | --- |\n| a few words | some more words |\n| b | c |\n", 20),
      "one        two\na few      some more\nwords      words\n\nb          c\n");
  EXPECT_EQ(shown("| a | b |\n| --- | --- |\n| 12345678901234567890 | 1234567890 |\n", 21),
            "a          b\n123456789  1234567890\n012345678\n90\n")
      << "a word that fits nowhere is broken";
}

TEST(Markdown, TellsWhereLinksAndFiguresLead) {
  EXPECT_EQ(shown("see [the lab](../lab.md), [below](#x)\n\n![Tiles](f/t.svg)\n"),
            "see the lab (../lab.md), below\n\n[figure: Tiles]\n");
}

TEST(Markdown, LeavesCommentsOut) {
  EXPECT_EQ(shown("<!-- one\ntwo -->\ntext <b>\n"), "text <b>\n");
}

TEST(Markdown, ShowsWhatHtmlFoldsAway) {
  EXPECT_EQ(shown("<details>\n<summary>Answers</summary>\n\n1. so\n\n</details>\n\nend\n"),
            "Answers\n\n1. so\n\nend\n");
}

TEST(Markdown, EndsEmphasisBeforePunctuation) {
  EXPECT_EQ(shown("a *word*, and *more*.\n"), "a word, and more.\n");
}

TEST(Markdown, SurvivesAnythingCutOff) {
  const std::string text = "# a\n| b | `c` |\n- d [e](f) ![g](h)\n```\ni\n```\n> j\n\\";
  for (std::size_t length = 0; length <= text.size(); ++length)
    EXPECT_EQ(shown(text.substr(0, length)).find('\0'), std::string::npos);
}

}  // namespace
}  // namespace membound::report
