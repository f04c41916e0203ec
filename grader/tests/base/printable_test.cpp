// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/base/strings.hpp"

#include <gtest/gtest.h>

namespace membound::base {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("kernel.cu(3): error: a\tb\n"), "kernel.cu(3): error: a\tb\n");
  EXPECT_EQ(printable("Zoë 学生 Ωμέγα 😀"), "Zoë 学生 Ωμέγα 😀");
}

TEST(Printable, ShowsEscapeSequences) {
  EXPECT_EQ(printable("\033[2J\033]0;title\a"), "\\x1b[2J\\x1b]0;title\\x07");
  EXPECT_EQ(printable("a\u009bm"), "a\\u{009b}m");
}

TEST(Printable, ShowsWhatTurnsTheDirectionOfWriting) {
  EXPECT_EQ(printable("a\u202ecu.exe\u2066"), "a\\u{202e}cu.exe\\u{2066}");
}

TEST(Printable, ShowsWhatHasNoWidth) {
  EXPECT_EQ(printable("ad\u200bmin\ufeff"), "ad\\u{200b}min\\u{feff}");
}

TEST(Printable, ShowsLettersThatLookLikeNothing) {
  EXPECT_EQ(printable("a\u3164b\u115f"), "a\\u{3164}b\\u{115f}");
  EXPECT_EQ(printable("\u2764\ufe0f"), "\u2764\ufe0f") << "an emoji's look is no secret";
}

TEST(Printable, ShowsBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff\xc3"), "a\\xff\\xc3");
  EXPECT_EQ(printable("\xc0\x80"), "\\xc0\\x80");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");
}

TEST(Printable, ShowsZeroBytesAndOverwritingLines) {
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("bad\rgood"), "bad\\x0dgood");
  EXPECT_EQ(printable("one\r\ntwo"), "one\ntwo");
}

}  // namespace
}  // namespace membound::base
