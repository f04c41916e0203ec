// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/report/handout.hpp"

namespace membound::report {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSmallHandout =
    "<!-- SPDX -->\n\n# A lab\n\nIt costs $5, see [the page](../page.md) or "
    "[there](https://a.b).\n\n"
    "## The lab\n\n### Stage 1: one\n\n<!-- prediction 1: written -->\n**Predict, stage 1:** How "
    "many?\n"
    "`./membound predict 07/1 NUMBER`; then `check` puts it.\n<!-- end of prediction 1 -->\n\n"
    "Do it: `a[$i](x)`.\n\n![A *tile*](figures/tile.svg)\n\n```cpp\n# $x\n### Stage 9: no "
    "heading\n```\n\n"
    "<details>\n<summary>Why?</summary>\n\nBecause.\n</details>\n\n### Stage 2: two\n\nMore.\n\n"
    "## After you are done\n\nThe answers.\n";
constexpr const char* kKernel =
    "#include \"kernel.cuh\"\n\n// Stage 1: One\nint one;\n\n// Stage 2: Two\nint two;\n";

course::Lab small_lab() {
  course::Lab lab;
  lab.id = "07-lab";
  for (const int number : {1, 2}) {
    course::Stage stage;
    stage.number = number;
    lab.stages.push_back(stage);
  }
  lab.stages[0].question = course::Question{"How many?", "sectors", "counter", ""};
  return lab;
}

NotebookSource source(std::size_t picture_bytes = 0) {
  return {.kernel = kKernel, .beside = {}, .figure = [picture_bytes](std::string_view) {
            return "<?xml?>\n<svg width=\"7\" height=\"3\">\n  <desc>four \"five\"</desc>\n" +
                   std::string(picture_bytes, ' ') + "x</svg>\n";
          }};
}

std::string made(const std::string& handout = kSmallHandout,
                 const NotebookSource& from = source()) {
  const auto notebook = handout_notebook(handout, "handout.md", small_lab(), from);
  return notebook ? *notebook : base::to_string(notebook.error());
}

/// The cells' texts, "code: " before those that run.
std::vector<std::string> cells(const std::string& notebook) {
  std::vector<std::string> texts;
  const auto parsed = nlohmann::json::parse(notebook);
  for (const auto& cell : parsed["cells"]) {
    texts.emplace_back(cell["cell_type"] == "code" ? "code: " : "");
    for (const auto& line : cell["source"]) texts.back() += line.get<std::string>();
  }
  return texts;
}

TEST(Notebook, HasTheTextACellForEachPredictionAndOneForEachStage) {
  EXPECT_THAT(
      cells(made()),
      ElementsAre(StartsWith("# A lab\n"),
                  AllOf(StartsWith("code: # FOLDER"), HasSubstr("%course")),
                  HasSubstr("Run the cell above"), "## The lab",
                  "### Stage 1: one\n\n**Predict, stage 1:** How many?",
                  "code: # Write your number of sectors instead of NUMBER.\n%predict 07/1 NUMBER",
                  AllOf(StartsWith("Do it"), HasSubstr("<summary>Why?</summary>\n\n\nBecause.")),
                  "code: %%kernel 07/1\n// Stage 1: One\nint one;", "### Stage 2: two\n\nMore.",
                  "code: %%kernel 07/2\n// Stage 2: Two\nint two;",
                  AllOf(StartsWith("## After you are done"), Not(HasSubstr("The answers")))));
}

TEST(Notebook, KeepsOfTheTextWhatANotebookCanShow) {
  const std::vector<std::string> texts = cells(made());
  EXPECT_THAT(texts[0], HasSubstr("It costs \\$5, see the page or [there](https://a.b)."));
  EXPECT_THAT(texts[0], Not(HasSubstr("SPDX")));
  EXPECT_THAT(texts[6], AllOf(HasSubstr("`a[$i](x)`"), HasSubstr("```cpp\n# $x\n### Stage 9")))
      << "code is code";
}

TEST(Notebook, HoldsSmallPicturesAndReadsLargeOnesFromTheCourse) {
  EXPECT_THAT(
      cells(made())[6],
      HasSubstr("<img alt=\"four &quot;five&quot;\" width=\"7\" "
                "src=\"data:image/"
                "svg+xml;base64,"
                "PHN2ZyB3aWR0aD0iNyIgaGVpZ2h0PSIzIj48ZGVzYz5mb3VyICJmaXZlIjwvZGVzYz4KeDwvc3ZnPg=="
                "\">\n\n_A *tile*_"))
      << "ends of lines between elements are left out, those before text are not";
  const std::vector<std::string> texts = cells(made(kSmallHandout, source(100'000)));
  EXPECT_THAT(texts[6], AllOf(HasSubstr("run the cell below"), Not(HasSubstr("<img"))));
  EXPECT_EQ(texts[7], "code: %figure 07/tile");
}

TEST(Notebook, LongTextLeavesLessRoomForPictures) {
  const std::string longer = "# A\n" + std::string(80'000, 'x') + "\n" + kSmallHandout;
  EXPECT_THAT(made(kSmallHandout, source(60'000)), HasSubstr("<img"));
  EXPECT_THAT(made(longer, source(60'000)),
              AllOf(Not(HasSubstr("<img")), HasSubstr("%figure 07/tile")));
}

TEST(Notebook, HasNoOutputsAndAnIdForEachCell) {
  const auto notebook = nlohmann::json::parse(made());
  EXPECT_EQ(notebook["nbformat"], 4);
  EXPECT_THAT(notebook["cells"], testing::SizeIs(11));
  for (const auto& cell : notebook["cells"]) {
    EXPECT_FALSE(cell["id"].get<std::string>().empty());
    if (cell["cell_type"] == "code") {
      EXPECT_TRUE(cell["outputs"].empty());
    }
  }
}

TEST(Notebook, HasACellForWhatIsHandedInBesideTheCode) {
  NotebookSource with_answers = source();
  with_answers.beside["answers.md"] = "- kind:\n";
  const std::vector<std::string> texts = cells(made(kSmallHandout, with_answers));
  EXPECT_EQ(texts[7], "code: %%answers 07\n- kind:\n");
  NotebookSource with_text = source();
  with_text.beside["writeup.md"] = "# What\n";
  EXPECT_THAT(texts[8], StartsWith("code: %%kernel 07/1"));
  // A write-up is written when all stages are done.
  const std::vector<std::string> later = cells(made(kSmallHandout, with_text));
  const auto cell = std::ranges::find(later, "code: %%answers 07 writeup.md\n# What\n");
  ASSERT_GT(later.end() - cell, 1);
  EXPECT_THAT(cell[-1], StartsWith("code: %%kernel 07/2"));
  EXPECT_THAT(cell[1], StartsWith("## After you are done"));
}

TEST(Notebook, IsRefusedWhereAPartIsMissing) {
  const std::string whole = kSmallHandout;
  EXPECT_THAT(made(whole.substr(0, whole.find("### Stage 2"))),
              HasSubstr("handout.md: no section \"### Stage 2: …\""));
  EXPECT_THAT(made(whole.substr(0, whole.find("## After")) + "### Stage 3: three\n"),
              HasSubstr("a section of stage 3, which the lab does not have"));
  NotebookSource without = source();
  without.figure = {};
  EXPECT_THAT(made(kSmallHandout, without), HasSubstr("no picture figures/tile.svg"));
  NotebookSource headless = source();
  headless.kernel = "// Stage 1: One\nint one;\n";
  EXPECT_THAT(made(kSmallHandout, headless),
              HasSubstr("the skeleton has no head \"// Stage 2: …\""));
  EXPECT_THAT(made("# A\n" + std::string(kMostNotebookBytes, 'x') + "\n" + whole),
              HasSubstr("at most 150000 are allowed"));
}

}  // namespace
}  // namespace membound::report
