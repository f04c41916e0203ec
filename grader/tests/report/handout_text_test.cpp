// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/handout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/report/text.hpp"

namespace membound::report {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kText =
    "# A lab\n\n![A tile](figures/t.svg)\n\n<details>\n<summary>Why "
    "<code>x</code>?</summary>\n\nBecause.\n"
    "</details>\n\n<details>\n<summary>Stage 1</summary>\n\n"
    "<!-- snippet: solutions/01-lab/kernel.cu#stage-1 -->\n```cpp\nint secret;\n```\n</details>\n";

std::string shown(const HandoutView& view, bool with_answers) {
  const Style style{.colour = false, .unicode = true, .width = 80};
  const auto text = handout_text(kText, "handout.md", view, with_answers, style);
  return text ? *text : base::to_string(text.error());
}

TEST(HandoutText, FoldsAnswersAndSaysHowToUnfoldThem) {
  EXPECT_THAT(shown({.lab = "01-lab"}, false),
              AllOf(HasSubstr("Why x? (folded)\n"), HasSubstr("[figure: A tile]"),
                    HasSubstr("./membound handout 01-lab --text --answers"),
                    Not(HasSubstr("Because")), Not(HasSubstr("<")), Not(HasSubstr("secret"))));
}

TEST(HandoutText, ShowsAnswersButNoSolutionBeforeAPass) {
  EXPECT_THAT(shown({.lab = "01-lab"}, true),
              AllOf(HasSubstr("Why x?\n\nBecause."), HasSubstr("Our answer to stage 1"),
                    Not(HasSubstr("folded")), Not(HasSubstr("secret"))));
  EXPECT_THAT(shown({.lab = "01-lab", .unlocked = [](int) { return true; }}, true),
              HasSubstr("  int secret;\n"));
}

TEST(HandoutText, ShowsAPicturesDrawingAboveItsCaption) {
  const Style style{.colour = false, .unicode = true, .width = 80};
  const HandoutView view{.lab = "x", .drawing = [](std::string_view target) {
                           return target == "figures/a.svg" ? "0 1\n 2\n" : "";
                         }};
  const auto text = handout_text("# A\n\n![Lanes](figures/a.svg)\n\n![Banks](figures/b.svg)\n",
                                 "handout.md", view, false, style);
  ASSERT_TRUE(text) << base::to_string(text.error());
  EXPECT_THAT(*text, testing::HasSubstr("  0 1\n   2\n\n[figure: Lanes]\n\n[figure: Banks]\n"));
}

TEST(HandoutText, OfEveryLabFitsEightyColumns) {
  const Style style{.colour = false, .unicode = true, .width = 80};
  int handouts = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(MEMBOUND_SOURCE_DIR) / "handouts")) {
    if (!entry.is_directory()) continue;
    const auto markdown = base::read_file(entry.path() / "handout.md");
    ASSERT_TRUE(markdown);
    const auto text = handout_text(*markdown, entry.path().string(),
                                   {.lab = "x", .unlocked = [](int) { return true; }}, true, style);
    ASSERT_TRUE(text) << base::to_string(text.error());
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(columns(line), 80u) << entry.path() << ": " << line;
    ++handouts;
  }
  EXPECT_GT(handouts, 0);
}

}  // namespace
}  // namespace membound::report
