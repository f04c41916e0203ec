// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/text.hpp"

#include <gtest/gtest.h>

namespace membound::report {
namespace {

TEST(Text, ACodePointIsAColumn) { EXPECT_EQ(columns("2 × 3 ≥ 5"), 9u); }

TEST(Text, PaddingFillsOrCuts) {
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("abcdef", 4), "abc.");
  EXPECT_EQ(padded("×××××", 3), "××.");
}

TEST(Text, LongLinesBreakAtSpacesAndKeepTheirDepth) {
  EXPECT_EQ(wrapped("one two three four five six seven", 24, 2),
            "  one two three four\n  five six seven\n");
  EXPECT_EQ(wrapped("  deep one two three four five", 26, 2),
            "    deep one two three\n    four five\n");
}

TEST(Text, AWordLongerThanALineIsCut) {
  EXPECT_EQ(
      wrapped(std::string(50, 'x'), 20, 0),
      std::string(20, 'x') + "\n" + std::string(20, 'x') + "\n" + std::string(10, 'x') + "\n");
}

TEST(Text, PicturesKeepTheirShape) { EXPECT_EQ(wrapped("..#\n\n #.", 80, 2), "  ..#\n\n   #.\n"); }

TEST(Text, NumbersHaveThreeDigitsOrThousands) {
  EXPECT_EQ(number(0.914), "0.91");
  EXPECT_EQ(number(24.71), "24.7");
  EXPECT_EQ(number(999.6), "1,000");
  EXPECT_EQ(number(1234567), "1,234,567");
}

TEST(Text, SpeedsCarryTheirUnit) {
  EXPECT_EQ(speed(3.58e12, course::Bound::kBandwidth), "3,580 GB/s");
  EXPECT_EQ(speed(24.7e12, course::Bound::kOperations), "24.7 Tops/s");
  EXPECT_EQ(speed(12e9, course::Bound::kOperations), "12.0 Gops/s");
}

TEST(Text, DurationsChooseTheirUnit) {
  EXPECT_EQ(duration(820), "820 ns");
  EXPECT_EQ(duration(13100), "13.1 us");
  EXPECT_EQ(duration(2.13e6), "2.13 ms");
  EXPECT_EQ(duration(1.2e9), "1.20 s");
}

TEST(Text, PointsLoseNeedlessDigits) {
  EXPECT_EQ(points(10), "10");
  EXPECT_EQ(points(7.5), "7.5");
  EXPECT_EQ(points(0), "0");
}

}  // namespace
}  // namespace membound::report
