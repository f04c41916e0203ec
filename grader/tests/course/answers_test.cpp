// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <random>

#include "grader/base/strings.hpp"
#include "grader/course/stage_text.hpp"

namespace membound::course {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kAnswers = R"(# What was wrong

## Stage 1
- kind: Out-of-bounds read
- line: 7 `sum += in[i + 1];`
- thread:  thread 3 of block 2

## Stage 2: slow
* **counter:** global_load_requests
- factor: 512x
)";

/// Stage 1 wants kind, line and thread, stage 2 counter and factor; kernel.cu has 20 lines.
Lab debugging_lab() {
  Lab lab;
  lab.id = "90-debugging";
  lab.files = {"kernel.cu", "answers.md"};
  lab.mended = HandedOut{"", 20};
  lab.answers.words = {{"kind", {"out of bounds read", "data race"}},
                       {"counter", {"global_load_requests", "warps"}}};
  lab.answers.lines = {"line"};
  lab.answers.numbers = {"factor"};
  const auto wants = [&](int stage, const std::string& field, const std::string& right) {
    return WantedAnswer{field, {answer_digest(lab, stage, field, right)}};
  };
  lab.stages.resize(2);
  lab.stages[0].number = 1;
  lab.stages[0].answers = {
      wants(1, "kind", "out of bounds read"), wants(1, "line", "7"), {"thread", {}}};
  lab.stages[1].number = 2;
  lab.stages[1].answers = {wants(2, "counter", "global load requests"), wants(2, "factor", "512")};
  return lab;
}

std::string problem(int stage, const std::string& answers) {
  const Lab lab = debugging_lab();
  return problem_with_answers(lab, *lab.stage(stage),
                              joined_submission("int x;\n", {{"answers.md", answers}}));
}

/// The problem of stage 1 where `old_text` of the right answers is another one.
std::string problem_with(const std::string& old_text, const std::string& new_text, int stage = 1) {
  std::string text = kAnswers;
  const auto at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  return problem(stage, text.replace(at, old_text.size(), new_text));
}

TEST(Answers, RightOnesHaveNoProblem) {
  EXPECT_EQ(problem(1, kAnswers), "");
  EXPECT_EQ(problem(2, kAnswers), "");
}

TEST(Answers, AreComparedAsWordsAndNumbers) {
  EXPECT_EQ(problem_with("Out-of-bounds read", "`out of bounds  READ`"), "");
  EXPECT_EQ(problem_with("- line: 7", "- Line: line 7"), "");
  EXPECT_EQ(problem_with("512x", "512.0", 2), "");
  EXPECT_EQ(problem_with("512x", "512 ×", 2), "");
}

TEST(Answers, AWrongOneIsNamedWithItsLine) {
  EXPECT_EQ(problem_with("- line: 7", "- line: 8"),
            "answers.md:5: the line \"8\" is not that of the mistake in stage 1");
  EXPECT_EQ(problem_with("Out-of-bounds read", "data race"),
            "answers.md:4: the kind \"data race\" is not that of the mistake in stage 1");
  EXPECT_EQ(problem_with("512x", "8", 2),
            "answers.md:10: the factor \"8\" is not that of the mistake in stage 2");
}

TEST(Answers, AWordThatIsNoneIsToldWithTheNearestOne) {
  EXPECT_THAT(problem_with("Out-of-bounds read", "data rase"),
              AllOf(StartsWith("answers.md:4: no kind is called \"data rase\""),
                    HasSubstr("did you mean \"data race\"?")));
}

TEST(Answers, ALineBeyondTheFileIsTold) {
  for (const char* line : {"21", "0", "999999999999"})
    EXPECT_EQ(problem_with("- line: 7", std::string("- line: ") + line),
              "answers.md:5: line " + std::string(line) +
                  " is not in the kernel.cu that was handed out, which has lines 1 to 20");
  EXPECT_THAT(problem_with("- line: 7", "- line: 7 or 8"), HasSubstr("is no line number"));
  EXPECT_THAT(problem_with("- line: 7", "- line: the last"), HasSubstr("is no line number"));
}

TEST(Answers, WhatIsMissingIsToldWhereItBelongs) {
  EXPECT_THAT(problem_with("- kind: Out-of-bounds read\n", ""),
              StartsWith("answers.md:3: below \"## Stage 1\" there is no line \"- kind: …\""));
  EXPECT_THAT(problem_with("Out-of-bounds read", ""), HasSubstr("answers.md:4: \"- kind: …\""));
  EXPECT_THAT(problem_with("## Stage 1", "## Part 1"), HasSubstr("no heading \"## Stage 1\""));
  EXPECT_THAT(problem_with("thread 3 of block 2", ""), HasSubstr("\"- thread: …\" of stage 1"))
      << "what is not graded is asked for all the same";
  const Lab lab = debugging_lab();
  EXPECT_THAT(problem_with_answers(lab, *lab.stage(1), "int x;\n"),
              StartsWith("answers.md is not there"));
}

TEST(Answers, WhatIsThereTwiceOrNotAskedForIsTold) {
  EXPECT_THAT(problem_with("- line: 7", "- kind: data race\n- line: 7"),
              HasSubstr("answers.md:5: \"- kind: …\" is there twice, first in line 4"));
  EXPECT_THAT(problem_with("## Stage 2", "## Stage 1"),
              HasSubstr("\"## Stage 1\" is there twice, first in line 3"));
  EXPECT_THAT(problem_with("- thread:", "- thraed:"), HasSubstr("did you mean \"thread\"?"));
}

TEST(Answers, ADigestTellsNeitherTheAnswerNorThatOfAnotherStage) {
  const Lab lab = debugging_lab();
  EXPECT_NE(answer_digest(lab, 1, "line", "7"), answer_digest(lab, 2, "line", "7"));
  EXPECT_NE(answer_digest(lab, 1, "line", "7"), answer_digest(lab, 1, "factor", "7"));
  const auto two = answer_digests(lab, 1, "line", "7 or 9");
  ASSERT_TRUE(two) << base::to_string(two.error());
  EXPECT_THAT(*two, testing::ElementsAre(answer_digest(lab, 1, "line", "7"),
                                         answer_digest(lab, 1, "line", "9")));
  EXPECT_FALSE(answer_digests(lab, 1, "line", "twenty"));
}

TEST(SubmissionText, HasTheFilesThatWereJoined) {
  const std::string kernel = "int x;\n//| mine\n";
  const SplitSubmission split =
      split_submission(joined_submission(kernel, {{"answers.md", kAnswers}, {"b.md", "\n x\n"}}));
  EXPECT_EQ(split.kernel, kernel);
  EXPECT_EQ(split.beside.at("answers.md"), kAnswers);
  EXPECT_EQ(split.beside.at("b.md"), "\n x\n");
  EXPECT_EQ(split_submission(kernel).kernel, kernel);
  EXPECT_EQ(joined_submission(kernel, {}), kernel);
}

TEST(SubmissionText, EndsNoCommentAndBringsNoByteThatNoTextHas) {
  const std::string text =
      joined_submission("int x;", {{"answers.md", std::string("a*/\0\xff\x1b[2J\r\nint y;", 17)}});
  EXPECT_EQ(base::printable(text), text);
  for (const std::string_view line : base::lines_of(text))
    EXPECT_TRUE(line == "int x;" || line.starts_with("//")) << line;
}

/// Whatever a student writes: no crash, the files come apart as they were joined, and what is wrong
/// is said in sentences that begin with the file's name.
TEST(SubmissionText, SurvivesWhateverIsHandedIn) {
  constexpr unsigned kSeed = 20261128;
  std::mt19937 random(kSeed);
  const std::vector<std::string> pieces = {"## Stage 1\n",
                                           "- kind: ",
                                           "- line: ",
                                           "## Stage 999999999999\n",
                                           "`",
                                           "7",
                                           "-",
                                           ":",
                                           "\n",
                                           "//| ",
                                           "// Handed in beside it: answers.md\n",
                                           "\\\n",
                                           "*/",
                                           std::string(1, '\0'),
                                           "\xff",
                                           "\r\n",
                                           "data race",
                                           "1e999",
                                           "nan",
                                           "##",
                                           "- : \n",
                                           "×",
                                           " or "};
  const Lab lab = debugging_lab();
  for (int round = 0; round < 3000; ++round) {
    std::string answers, kernel;
    for (auto n = random() % 24; n > 0; --n) answers += pieces[random() % pieces.size()];
    for (auto n = random() % 6; n > 0; --n) kernel += pieces[random() % pieces.size()];
    const std::string joined = joined_submission(kernel, {{"answers.md", answers}});
    const SplitSubmission split = split_submission(joined);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", round " + std::to_string(round));
    EXPECT_EQ(split.beside,
              split_submission(joined_submission("", {{"answers.md", answers}})).beside);
    const std::string again = joined_submission(split.kernel, split.beside);
    EXPECT_EQ(joined_submission(split_submission(again).kernel, split.beside), again);
    for (const Stage& stage : lab.stages) {
      const std::string problems = problem_with_answers(lab, stage, joined);
      for (const std::string_view line : base::lines_of(problems))
        EXPECT_THAT(line, StartsWith("answers.md"));
    }
    static_cast<void>(answer_digests(lab, 1, "line", answers));
    static_cast<void>(answer_digests(lab, 2, "factor", answers));
  }
}

}  // namespace
}  // namespace membound::course
