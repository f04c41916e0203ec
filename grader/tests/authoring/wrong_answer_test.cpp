// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/wrong_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/base/files.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::authoring {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

class WrongAnswers : public testing::Test {
 protected:
  WrongAnswers() { folder_.write("solutions/03-x/kernel.cu", "// Stage 1\nint a = 1;\nint b;\n"); }

  fs::path write(const std::string& name, const std::string& text) {
    return folder_.write("solutions/03-x/wrong/" + name, text);
  }
  [[nodiscard]] fs::path solution() const { return folder_.path() / "solutions/03-x"; }

  judge::TemporaryFolder folder_;
};

constexpr const char* kPatch =
    "Stage: 1\nFails: MovesOne\nFinds: data race in `a = 2`\nWhy:   counts from\n       two.\n"
    "@@ -2 +2 @@\n-int a = 1;\n+int a = 2;\n";

TEST_F(WrongAnswers, APatchIsItsHeadAndTheReferenceAnswerWithTheMistake) {
  const auto answer = read_wrong_answer(write("1-from-two.patch", kPatch));
  ASSERT_TRUE(answer) << base::to_string(answer.error());
  EXPECT_EQ(answer->name, "1-from-two");
  EXPECT_EQ(answer->head.stage, 1);
  EXPECT_EQ(answer->head.fails, "MovesOne");
  EXPECT_EQ(answer->head.finds, "data race in `a = 2`");
  EXPECT_EQ(answer->head.why, "counts from two.");
  EXPECT_EQ(answer->text, "// Stage 1\nint a = 2;\nint b;\n");
  EXPECT_EQ(answer->lines, 2);
}

TEST_F(WrongAnswers, AWholeFileHasItsHeadAsAComment) {
  const std::string text =
      "// SPDX\n// Stage: 2\n// Fails: Slow\n// Why:   one\n//        two\nint a;\nint b;\n";
  const auto answer = read_wrong_answer(write("2-whole.cu", text));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head.stage, 2);
  EXPECT_EQ(answer->head.why, "one two");
  EXPECT_EQ(answer->text, text);
  EXPECT_EQ(answer->lines, 2);
}

TEST_F(WrongAnswers, WhatTheHeadLacksIsEmpty) {
  const auto answer = read_wrong_answer(write("1-a.cu", "int a;\n// Stage: 1\n// Fails: B\n"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->head.stage, 0);
  EXPECT_EQ(answer->head.fails + answer->head.finds + answer->head.why, "");
}

TEST_F(WrongAnswers, APatchThatDoesNotApplyIsNamedWithItsLine) {
  const fs::path file = write("1-old.patch", "Stage: 1\n@@ -2 +2 @@\n-int a = 7;\n+int a = 2;\n");
  const auto answer = read_wrong_answer(file);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().where, file.string() + ":3");
  EXPECT_THAT(answer.error().found, HasSubstr("\"int a = 1;\""));
  EXPECT_EQ(answer.error().expected, "\"int a = 7;\"");
  EXPECT_FALSE(read_wrong_answers(solution()));
}

TEST_F(WrongAnswers, AreThePatchesAndWholeFilesByName) {
  write("2-b.cu", "int a;\n");
  write("1-a.patch", kPatch);
  write("notes.txt", "");
  const auto answers = read_wrong_answers(solution());
  ASSERT_TRUE(answers);
  std::vector<std::string> names;
  for (const WrongAnswer& answer : *answers) names.push_back(answer.name);
  EXPECT_THAT(names, ElementsAre("1-a", "2-b"));
  EXPECT_TRUE(read_wrong_answers(folder_.path() / "none")->empty());
}

TEST_F(WrongAnswers, AMistypedNameBringsTheMostAlike) {
  write("1-from-two.patch", kPatch);
  EXPECT_TRUE(find_wrong_answer(solution(), "1-from-two"));
  const auto none = find_wrong_answer(solution(), "1-form-two");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().advice, "did you mean \"1-from-two\"?");
  EXPECT_EQ(find_wrong_answer(solution(), "x").error().advice, "membound dev wrong 03-x");
}

TEST_F(WrongAnswers, AreWrittenWhole) {
  const auto answer = read_wrong_answer(write("1-from-two.patch", kPatch));
  ASSERT_TRUE(answer);
  const auto file = write_kernel(*answer, folder_.path() / "state/wrong");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->filename(), "1-from-two.cu");
  EXPECT_EQ(*base::read_file(*file), answer->text);
}

}  // namespace
}  // namespace membound::authoring
