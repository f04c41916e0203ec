// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/wrong_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "grader/base/files.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::authoring {
namespace {

using testing::AllOf;
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

  /// What is read of a folder with one file: names, or what is wrong, as "1-a.cu:3: found;
  /// expected".
  std::vector<std::string> said(const std::string& name, const std::string& text) {
    const fs::path file = write(name, text);
    std::vector<std::string> all;
    for (const auto& answer : each_wrong_answer(solution())) {
      if (answer) {
        all.push_back(answer->name);
        continue;
      }
      const base::Error& error = answer.error();
      all.push_back(error.where.substr(file.parent_path().string().size() + 1) + ": " +
                    error.found + "; " + error.expected);
    }
    fs::remove(file);
    return all;
  }

  judge::TemporaryFolder folder_;
};

constexpr const char* kPatch =
    "# 1-from-two fails MovesOne\nFinds: data race in `a = 2`\nWhy: counts from\n     two.\n"
    "@@ -2 +2 @@\n-int a = 1;\n+int a = 2;\n";
constexpr const char* kHunk = "@@ -2 +2 @@\n-int a = 1;\n+int a = 2;\n";

TEST_F(WrongAnswers, APatchIsItsHeadAndTheReferenceAnswerWithTheMistake) {
  write("stage-1.patch", kPatch);
  const auto answer = find_wrong_answer(solution(), "1-from-two");
  ASSERT_TRUE(answer) << base::to_string(answer.error());
  EXPECT_EQ(answer->name, "1-from-two");
  EXPECT_EQ(answer->head.stage, 1);
  EXPECT_EQ(answer->head.fails, "MovesOne");
  EXPECT_EQ(answer->head.finds, "data race in `a = 2`");
  EXPECT_EQ(answer->head.why, "counts from two.");
  EXPECT_EQ(answer->text, "// Stage 1\nint a = 2;\nint b;\n");
  EXPECT_EQ(answer->diff, kHunk);
  EXPECT_EQ(answer->changed_lines, 2);
}

TEST_F(WrongAnswers, AWholeFileHasItsHeadAsAComment) {
  const std::string text =
      "// SPDX-License-Identifier: x\n// 2-whole fails Slow\n// Why: one\n//      two\nint a;\nint "
      "b;\n";
  write("2-whole.cu", text);
  const auto answer = find_wrong_answer(solution(), "2-whole");
  ASSERT_TRUE(answer) << base::to_string(answer.error());
  EXPECT_EQ(answer->head.stage, 2);
  EXPECT_EQ(answer->line, 2);
  EXPECT_EQ(answer->head.why, "one two");
  EXPECT_EQ(answer->text, text);
  EXPECT_EQ(answer->changed_lines, 2);
}

TEST_F(WrongAnswers, WhatTheHeadLacksIsEmpty) {
  write("1-a.cu", "// 1-a fails B\nint a;\n// Why: no head\n");
  const auto answer = find_wrong_answer(solution(), "1-a");
  ASSERT_TRUE(answer) << base::to_string(answer.error());
  EXPECT_EQ(answer->head.finds + answer->head.why + answer->head.fails_on_gpu, "");
}

TEST_F(WrongAnswers, OfAStageStandInOneFile) {
  const std::string b = "# 1-b fails B\nWhy: no b.\n@@ -3 +3 @@\n-int b;\n+\n";
  write("stage-1.patch", b + "\n" + kPatch);
  const auto answers = read_wrong_answers(solution());
  ASSERT_TRUE(answers) << base::to_string(answers.error());
  ASSERT_EQ(answers->size(), 2U);
  EXPECT_EQ((*answers)[0].text, "// Stage 1\nint a = 1;\n\n");
  EXPECT_EQ((*answers)[1].text, "// Stage 1\nint a = 2;\nint b;\n");
  EXPECT_EQ((*answers)[1].line, 7);
}

TEST_F(WrongAnswers, ABrokenOneIsToldWithItsLineAndTheOthersAreRead) {
  const std::string right = std::string("# 1-a fails B\n") + kHunk;
  const std::string form = "; a head, as in \"# 3-missing-barrier fails OneBlock\"";
  EXPECT_THAT(said("stage-1.patch", kHunk + right),
              ElementsAre("stage-1.patch:1: \"@@ -2 +2 @@\"" + form, "1-a"));
  EXPECT_THAT(said("stage-1.patch", right + "# 1-c\n" + kHunk),
              ElementsAre("stage-1.patch:5: \"# 1-c\"" + form, "1-a"));
  EXPECT_THAT(said("stage-1.patch", right + "# 1-a fails C\n" + kHunk),
              ElementsAre(AllOf(HasSubstr("stage-1.patch:5: a second \"1-a\""),
                                HasSubstr("stage-1.patch:1")),
                          "1-a"));
  EXPECT_THAT(
      said("stage-1.patch", "# 2-a fails C\n" + std::string(kHunk) + right),
      ElementsAre("stage-1.patch:1: \"2-a\" among those of stage 1; a name that begins with "
                  "\"1-\"",
                  "1-a"));
  EXPECT_THAT(said("stage-1.patch", "# 1-c fails C\nFind: x\n" + std::string(kHunk) + right),
              ElementsAre("1-a",
                          "stage-1.patch:2: \"Find: x\"; one of \"On a GPU:\", \"Finds:\" and "
                          "\"Why:\""));
  EXPECT_THAT(said("stage-1.patch", "# 1-c fails C\n"),
              ElementsAre(HasSubstr("stage-1.patch:2: no diff")));
  EXPECT_THAT(said("stage-1.patch", ""), ElementsAre("stage-1.patch:1: an empty file" + form));
  EXPECT_THAT(
      said("1-a.patch", right),
      ElementsAre("1-a.patch:1: patches in \"1-a.patch\"; stage-3.patch, which holds all of "
                  "stage 3"));
  EXPECT_THAT(said("1-a.cu", "int a;\n"), ElementsAre("1-a.cu:1: code without a head" + form));
  EXPECT_THAT(said("1-a.cu", "// Stage: 1\nint a;\n"),
              ElementsAre("1-a.cu:1: \"// Stage: 1\"" + form));
  EXPECT_THAT(said("1-a.cu", "// 1-b fails C\nint a;\n"),
              ElementsAre("1-a.cu:1: the head of \"1-b\"; the file's name, \"1-a\""));
}

TEST_F(WrongAnswers, APatchThatDoesNotApplyIsNamedWithItsLine) {
  const fs::path file =
      write("stage-1.patch",
            std::string(kPatch) + "# 1-old fails B\n@@ -2 +2 @@\n-int a = 7;\n+int a = 2;\n");
  const auto answer = find_wrong_answer(solution(), "1-old");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().where, file.string() + ":10");
  EXPECT_THAT(answer.error().found, HasSubstr("\"int a = 1;\""));
  EXPECT_EQ(answer.error().expected, "\"int a = 7;\"");
  EXPECT_FALSE(read_wrong_answers(solution()));
}

TEST_F(WrongAnswers, AreThePatchesAndWholeFilesByStageAndName) {
  write("2-b.cu", "// 2-b fails B\nint a;\n");
  write("stage-10.patch", std::string("# 10-a fails B\n") + kHunk);
  write("stage-1.patch", kPatch);
  write("notes.txt", "");
  const auto answers = read_wrong_answers(solution());
  ASSERT_TRUE(answers) << base::to_string(answers.error());
  std::vector<std::string> names;
  for (const WrongAnswer& answer : *answers) names.push_back(answer.name);
  EXPECT_THAT(names, ElementsAre("1-from-two", "2-b", "10-a"));
  EXPECT_TRUE(read_wrong_answers(folder_.path() / "none")->empty());
}

TEST_F(WrongAnswers, AMistypedNameBringsTheMostAlike) {
  write("stage-1.patch", kPatch);
  EXPECT_TRUE(find_wrong_answer(solution(), "1-from-two"));
  const auto none = find_wrong_answer(solution(), "1-form-two");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().advice, "did you mean \"1-from-two\"?");
  EXPECT_EQ(find_wrong_answer(solution(), "x").error().advice, "membound dev wrong 03-x");
}

TEST_F(WrongAnswers, AreWrittenWhole) {
  write("stage-1.patch", kPatch);
  const auto answer = find_wrong_answer(solution(), "1-from-two");
  ASSERT_TRUE(answer);
  const auto file = write_kernel(*answer, folder_.path() / "state/wrong");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->filename(), "1-from-two.cu");
  EXPECT_EQ(*base::read_file(*file), answer->text);
}

}  // namespace
}  // namespace membound::authoring
