// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/screen.hpp"

#include <gtest/gtest.h>

namespace membound::cli {
namespace {

constexpr ScreenSize kSmall{5, 8};

TEST(Screen, HasTheTextAboveAndTheKeysInTheLastRow) {
  EXPECT_EQ(screen_page("one\ntwo\n", "q quit", 0, kSmall), "one\ntwo\n\n\nq quit");
}

TEST(Screen, AllRowsServeATextThatJustFits) {
  EXPECT_EQ(screen_page("1\n2\n3\n4\n", "q", 0, kSmall), "1\n2\n3\n4\nq");
}

TEST(Screen, SaysHowMuchIsLeftOfALongerText) {
  EXPECT_EQ(screen_page("1\n2\n3\n4\n5\n", "q", 0, {5, 30}), "1\n2\n3\n2 more lines: space\nq");
  EXPECT_EQ(screen_page("1\n2\n3\n4\n5\n", "q", 3, {5, 30}),
            "3\n4\n5\nthe end; space: from the top\nq");
}

TEST(Screen, CutsRowsAtItsWidthAndEndsTheirColour) {
  EXPECT_EQ(cut_to("123456789", 8), "12345678");
  EXPECT_EQ(cut_to("\033[31mäöüabcdefg\033[0m", 8), "\033[31mäöüabcde\033[0m");
  EXPECT_EQ(cut_to("\033[31mab\033[0mcdefghij", 8), "\033[31mab\033[0mcdefgh");
}

TEST(Screen, WrapsWhatTheCompilerSaysAndLeavesTheSourceBelowIt) {
  EXPECT_EQ(with_long_lines_wrapped(
                "k.cu:3:1: error: expected a semicolon here\n    int a = 1234567890;\n", 20),
            "k.cu:3:1: error:\nexpected a semicolon\nhere\n    int a = 1234567890;\n");
}

TEST(Screen, IsWrittenOverTheOneBefore) {
  EXPECT_EQ(over_the_last("a\nb"), "\033[Ha\033[K\nb\033[K\033[J\r");
}

}  // namespace
}  // namespace membound::cli
