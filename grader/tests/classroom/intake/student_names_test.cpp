// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/classroom/intake/archive.hpp"
#include "grader/classroom/intake/submitted_names.hpp"

#include <gtest/gtest.h>

#include <random>

namespace membound::intake {
namespace {

TEST(Normal, ComposesLetters) { EXPECT_EQ(normal("Zoe\xcc\x88"), "Zo\xc3\xab"); }

TEST(Normal, BytesThatAreNoUtf8AreReplaced) { EXPECT_EQ(normal("a\xff"), "a\xef\xbf\xbd"); }

TEST(Folded, CaseFormsAndInvisibleCharactersDoNotMatter) {
  EXPECT_EQ(folded("Zoe\xcc\x88"), folded("ZO\xc3\x8b"));
  EXPECT_EQ(folded("al\xe2\x80\x8bice"), folded("Alice"));  // zero width space
  EXPECT_EQ(folded("\xef\xbc\xa1lice"), folded("alice"));   // full width A
  EXPECT_EQ(folded("stra\xc3\x9f"
                   "e"),
            folded("STRASSE"));
}

TEST(Folded, DifferentNamesStayDifferent) { EXPECT_NE(folded("alice"), folded("alicia")); }

TEST(Shown, ControlAndDirectionCharactersAreReplaced) {
  EXPECT_EQ(shown("a\x1b[31mb"), "a\xef\xbf\xbd[31mb");
  EXPECT_EQ(shown("abc\xe2\x80\xae"
                  "cu.exe"),
            "abc\xef\xbf\xbd"
            "cu.exe");
  EXPECT_EQ(shown("two\nlines"), "two\xef\xbf\xbdlines");
}

TEST(Shown, LongNamesAreCut) { EXPECT_EQ(shown(std::string(500, 'x'), 10), "xxxxxxxxxx…"); }

// Whatever the bytes: valid UTF-8 without control characters, and folding it twice changes nothing.
TEST(Names, AnyBytesBecomeHarmless) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bytes(random() % 24, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    const std::string text = shown(bytes);
    EXPECT_EQ(normal(text), text);
    for (const char c : text) EXPECT_FALSE(c >= 0 && c < 0x20) << round;
    EXPECT_EQ(folded(folded(bytes)), folded(bytes)) << round;
    const SafePath path = safe_path(bytes);
    EXPECT_EQ(path.parts.size(), path.raw.size());
    for (const std::string& part : path.parts) {
      EXPECT_NE(part, "..");
      EXPECT_EQ(part.find('/'), std::string::npos);
    }
    EXPECT_TRUE(path.problem || !path.parts.empty());
  }
}

TEST(SafePath, SplitsAtSlashesOfBothKinds) {
  EXPECT_EQ(safe_path("a/b\\kernel.cu").parts, (std::vector<std::string>{"a", "b", "kernel.cu"}));
}

TEST(SafePath, DotsAndEmptyPartsAreDropped) {
  EXPECT_EQ(safe_path("./a//./b/").parts, (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(safe_path("./a").problem);
}

TEST(SafePath, RefusesWhatLeavesIt) {
  for (const char* path : {"../a", "a/../../b", "/a", "\\a", "C:\\a", "..\\a", "a/.."})
    EXPECT_TRUE(safe_path(path).problem) << path;
}

TEST(SafePath, RefusesWhatIsTooDeepOrTooLong) {
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "d/";
  EXPECT_TRUE(safe_path(deep + "kernel.cu").problem);
  EXPECT_TRUE(safe_path(std::string(300, 'x') + "/kernel.cu").problem);
  EXPECT_TRUE(safe_path(std::string(5000, '/') + "x").problem);
}

TEST(SafePath, RefusesNothingAtAll) { EXPECT_TRUE(safe_path("").problem); }

TEST(Stem, DropsArchiveAndSourceEndings) {
  EXPECT_EQ(stem("alice.tar.gz"), "alice");
  EXPECT_EQ(stem("alice.ZIP"), "alice");
  EXPECT_EQ(stem("kernel.cu"), "kernel");
  EXPECT_EQ(stem("alice.b"), "alice.b");
  EXPECT_EQ(stem(".zip"), ".zip");
}

}  // namespace
}  // namespace membound::intake
