// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/diagnostics.hpp"

#include <gtest/gtest.h>

namespace membound::report {
namespace {

constexpr int kWide = 80;

TEST(SourceExcerpt, MarksTheWholeStatementWhereNoColumnIsKnown) {
  EXPECT_EQ(source_excerpt({"", "\tint a = 1;  // one"}, 2, 0, kWide),
            "     2 |  int a = 1;  // one\n"
            "       |  ^~~~~~~~~~\n");
}

TEST(SourceExcerpt, MarksAColumn) {
  EXPECT_EQ(source_excerpt({"a = b;"}, 1, 5, kWide), "     1 | a = b;\n       |     ^\n");
  EXPECT_EQ(source_excerpt({"\xC3\xA4 = b;"}, 1, 6, kWide),
            "     1 | \xC3\xA4 = b;\n       |     ^\n")
      << "columns are bytes, and two of them one letter";
}

TEST(SourceExcerpt, IsNothingForALineThatIsNotThere) {
  for (const int line : {0, -1, 3}) EXPECT_EQ(source_excerpt({"a", "  "}, line, 0, kWide), "");
  EXPECT_EQ(source_excerpt({"a", "  "}, 2, 0, kWide), "") << "an empty line";
}

TEST(SourceExcerpt, KeepsToItsWidthAndShowsNoControlCharacters) {
  const std::string text = source_excerpt({std::string(200, 'x') + "\x1B[1m"}, 1, 0, 40);
  EXPECT_EQ(text,
            "     1 | " + std::string(30, 'x') + "…\n       | ^" + std::string(30, '~') + "\n");
  EXPECT_EQ(source_excerpt({"a\x1B"}, 1, 1, kWide), "     1 | a\\x1b\n       | ^\n");
}

}  // namespace
}  // namespace membound::report
