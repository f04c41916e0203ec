// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/patch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::authoring {
namespace {

using testing::HasSubstr;

constexpr const char* kOld = "one\ntwo\nthree\nfour\nfive\n";

std::string applied(std::string_view old_text, std::string_view diff) {
  const auto patched = apply_diff(old_text, diff, "a.patch", 5);
  return patched ? patched->text : base::to_string(patched.error());
}

TEST(Patch, ReplacesRemovesAndAddsLines) {
  EXPECT_EQ(
      applied(kOld, "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -5 +5,2 @@\n five\n+six\n"),
      "one\nTWO\nthree\nfour\nfive\nsix\n");
  EXPECT_EQ(applied(kOld, "@@ -0,0 +1 @@\n+zero\n"), std::string("zero\n") + kOld);
  EXPECT_EQ(applied(kOld, "@@ -1,5 +0,0 @@\n-one\n-two\n-three\n-four\n-five\n"), "");
  EXPECT_EQ(apply_diff(kOld, "@@ -2,2 +2 @@\n-two\n-three\n+2\n", "a.patch")->changed_lines, 3);
}

TEST(Patch, AnEmptyLineIsContextWhoseSpaceAnEditorCut) {
  EXPECT_EQ(applied("a\n\nb\n", "@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"), "a\n\nc\n");
}

TEST(Patch, KeepsALastLineWithoutLineFeed) {
  EXPECT_EQ(applied("a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+c\n"), "a\nc\n");
  EXPECT_EQ(applied("a\nb\n", "@@ -2 +2 @@\n-b\n+c\n\\ No newline at end of file\n"), "a\nc");
  EXPECT_THAT(applied("a\nb", "@@ -2 +2 @@\n-b\n+c\n"), HasSubstr("\"b\" without a line feed"));
}

TEST(Patch, AHunkIsFoundWhereItsLinesHaveMovedTo) {
  const std::string moved = std::string("new\nnew\n") + kOld;
  EXPECT_EQ(applied(moved, "@@ -1,2 +1,2 @@\n one\n-two\n+2\n@@ -4 +4 @@\n-four\n+4\n"),
            "new\nnew\none\n2\nthree\n4\nfive\n");
  EXPECT_EQ(applied("two\nthree\n", "@@ -2 +2 @@\n-two\n+2\n"), "2\nthree\n");
}

TEST(Patch, AHunkThatHasMovedUpTakesTheNextAlong) {
  EXPECT_EQ(applied(kOld, "@@ -4,2 +4,2 @@\n one\n-two\n+2\n@@ -6 +6 @@\n-three\n+3\n"),
            "one\n2\n3\nfour\nfive\n");
  EXPECT_THAT(applied(kOld, "@@ -5 +5 @@\n-one\n+1\n@@ -2 +2 @@\n-six\n+6\n"),
              HasSubstr("expected: \"six\""));
}

TEST(Patch, LinesThatStandTwiceAreTakenOnlyWhereTheHunkSays) {
  EXPECT_EQ(applied("a\nb\na\nb\n", "@@ -4 +4 @@\n-b\n+c\n"), "a\nb\na\nc\n");
  EXPECT_THAT(applied("a\nb\na\nb\n", "@@ -3 +3 @@\n-b\n+c\n"),
              HasSubstr("a.patch:5: the hunk's lines stand in the old text at lines 2, 4"));
}

TEST(Patch, AnotherLineThanExpectedIsNamedWithBoth) {
  const std::string text = applied(kOld, "@@ -2,2 +2 @@\n two\n-thre\n");
  EXPECT_THAT(text, HasSubstr("a.patch:7: line 3 of the old text is \"three\""));
  EXPECT_THAT(text, HasSubstr("expected: \"thre\""));
  EXPECT_THAT(applied(kOld, "@@ -5,2 +5 @@\n five\n-six\n"),
              HasSubstr("a.patch:7: the old text ends with line 5"));
}

TEST(Patch, AHunkThatLiesBeforeTheOneAboveItIsRefused) {
  EXPECT_THAT(applied(kOld, "@@ -3 +3 @@\n-three\n+3\n@@ -2 +2 @@\n-two\n+2\n"),
              HasSubstr("a.patch:8: "));
}

TEST(Patch, CountsMustBeThoseOfTheLines) {
  EXPECT_THAT(applied(kOld, "@@ -1,3 +1,2 @@\n one\n-two\n"),
              HasSubstr("a.patch:8: the end of the"));
  EXPECT_THAT(applied(kOld, "@@ -1,2 +1,2 @@\n one\n-two\n@@ -4 +4 @@\n-four\n+4\n"),
              HasSubstr("expected: 2 old and 2 new lines, as line 5 says"));
  EXPECT_THAT(applied(kOld, "@@ -1,2 +1 @@\n one\n+1\n-two\n"), HasSubstr("a line too many"));
  EXPECT_THAT(applied(kOld, "@@ -1 +1 @@\n-one\n+1\n two\n"), HasSubstr("the head of a hunk"));
  EXPECT_THAT(applied(kOld, "@@ -0,1 +1 @@\n-one\n+1\n"), HasSubstr("a first line of 1 or more"));
  EXPECT_THAT(applied(kOld, "@@ -99999999,1 +1 @@\n-one\n+1\n"), HasSubstr("the head of a hunk"));
}

TEST(Patch, NothingIsNoDiff) { EXPECT_THAT(applied(kOld, ""), HasSubstr("a.patch:5: no diff")); }

TEST(Patch, LineEndsOfAnotherSystemAreShown) {
  EXPECT_THAT(applied(kOld, "@@ -1 +1 @@\r\n-one\r\n+1\r\n"), HasSubstr("@@ -1 +1 @@\\r\""));
  EXPECT_THAT(applied(kOld, "@@ -1 +1 @@\n-one\r\n+1\r\n"), HasSubstr("expected: \"one\\r\""));
  EXPECT_EQ(applied("a\r\nb\r\n", "@@ -1 +1 @@\n-a\r\n+c\r\n"), "c\r\nb\r\n");
}

/// What diff(1) makes of two texts, without the two lines that name the files.
std::string diff_of(const judge::TemporaryFolder& folder, const std::string& one,
                    const std::string& other, int context) {
  const auto old_file = folder.write("one", one), new_file = folder.write("other", other);
  const std::string command = "diff -U" + std::to_string(context) + " " + old_file.string() + " " +
                              new_file.string() + " | tail -n +3";
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  for (int letter = 0; pipe != nullptr && (letter = std::fgetc(pipe)) != EOF;)
    text += static_cast<char>(letter);
  if (pipe != nullptr) pclose(pipe);
  return text;
}

/// Few different lines, so that many stand in several places.
std::string random_text(std::mt19937& random) {
  std::string text;
  for (auto lines = random() % 12; lines > 0; --lines)
    text += std::string(random() % 3, 'a') + (random() % 9 == 0 ? "\r\n" : "\n");
  if (!text.empty() && random() % 4 == 0) text.pop_back();
  return text;
}

TEST(Patch, TheDiffOfTwoTextsMakesTheSecondOfTheFirst) {
  const judge::TemporaryFolder folder;
  std::mt19937 random(7);
  int differences = 0;
  for (int turn = 0; turn < 100; ++turn) {
    const std::string one = random_text(random), other = random_text(random);
    if (one == other) continue;
    ++differences;
    const std::string diff = diff_of(folder, one, other, static_cast<int>(random() % 4));
    ASSERT_EQ(applied(one, diff), other) << "of\n" << one << "by\n" << diff;
  }
  EXPECT_GT(differences, 60);
}

TEST(Patch, ADiffThatIsCutOffAnywhereIsNoCrash) {
  const std::string diff =
      "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n@@ -5 +5,2 @@\n five\n+six\n";
  for (std::size_t length = 0; length < diff.size(); ++length) {
    const auto patched = apply_diff(kOld, std::string_view(diff).substr(0, length), "a.patch");
    EXPECT_EQ(patched.ok(), length == diff.find("@@ -5")) << length;  // the first hunk alone
  }
}

}  // namespace
}  // namespace membound::authoring
