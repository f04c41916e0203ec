// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/compile.hpp"

#include <gmock/gmock.h>

namespace membound::judge {
namespace {

using namespace std::string_literals;
using testing::HasSubstr;

/// `text` as UTF-16, which for these letters puts a zero before or behind each.
std::string wide(const std::string& text, bool big_endian) {
  std::string all;
  for (const char letter : text) {
    if (big_endian) all += '\0';
    all += letter;
    if (!big_endian) all += '\0';
  }
  return all;
}

TEST(SourceText, IsWhatEditorsSave) {
  EXPECT_EQ(why_not_text(""), "");
  EXPECT_EQ(why_not_text("int a;\r\n"), "");
  EXPECT_EQ(why_not_text("\xEF\xBB\xBFint a;  // caf\xC3\xA9\n"), "");
  EXPECT_EQ(why_not_text("int a;  // caf\xE9 in Latin-1\n"), "");
}

TEST(SourceText, IsNotUtf16WithOrWithoutItsMark) {
  const std::string text = "#include \"kernel.cuh\"\n";
  for (const bool big_endian : {false, true}) {
    EXPECT_THAT(why_not_text(wide(text, big_endian)), HasSubstr("UTF-16"));
    EXPECT_THAT(why_not_text((big_endian ? "\xFE\xFF"s : "\xFF\xFE"s) + wide(text, big_endian)),
                HasSubstr("encoding UTF-8"));
  }
}

TEST(SourceText, HoldsNoByteThatNoTextHas) {
  EXPECT_THAT(why_not_text("int a;\nint b;\0"s),
              HasSubstr("of its 14 bytes number 14, in line 2, is a byte 0,"));
  EXPECT_THAT(why_not_text("\x7F"
                           "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\x3E"s),
              HasSubstr("number 1, in line 1, is a byte 127,"));
  EXPECT_THAT(why_not_text("a\x01z"), HasSubstr("is a byte 1,"));
  EXPECT_EQ(why_not_text("// \x1B[1mbold\x1B[0m\f\v\n"), "");
}

}  // namespace
}  // namespace membound::judge
