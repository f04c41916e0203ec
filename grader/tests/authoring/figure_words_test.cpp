// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/figure.hpp"

#include <gtest/gtest.h>

namespace membound::authoring {
namespace {

FigureOptions sample() {
  FigureOptions options;
  options.what = "03-transpose";
  options.stage = 3;
  options.line = "out[at(\"x\\y\", row)]";
  options.access = "store";
  options.occurrence = 2;
  options.size = "256x256";
  options.title = "A title of \"some\" words";
  return options;
}

TEST(FigureWords, AreReadBackAsTheyWereWritten) {
  const auto words = figure_words("<?xml?>\n" + figure_mark(sample()) + "<svg/>");
  const auto options = figure_options(words);
  ASSERT_TRUE(options) << base::to_string(options.error());
  EXPECT_EQ(options->line, sample().line);
  EXPECT_EQ(options->title, sample().title);
  EXPECT_EQ(options->occurrence, 2);
  EXPECT_EQ(figure_mark(*options), figure_mark(sample()));
}

TEST(FigureWords, LeaveOutWhatHasItsDefault) {
  FigureOptions options;
  options.what = "03-transpose";
  options.line = "38";
  EXPECT_EQ(figure_mark(options), "<?membound-figure 03-transpose --line 38?>\n");
}

TEST(FigureWords, AreEmptyForAPictureThatSomebodyDrew) {
  EXPECT_TRUE(figure_words("<svg><title>?> membound-figure</title></svg>").empty());
}

TEST(FigureWords, AnUnknownOptionIsAnError) {
  EXPECT_FALSE(figure_options({"03-transpose", "--colour", "red"}));
}

}  // namespace
}  // namespace membound::authoring
