// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/course/stage_text.hpp"

#include <gtest/gtest.h>

namespace membound::course {
namespace {

TEST(StageText, ReachesFromItsHeadToTheNext) {
  const std::string kernel =
      "#include \"kernel.cuh\"\n// Stage 1: one\nint a;\n// Stage 2: two\nint b;";
  EXPECT_EQ(stage_text(kernel, 1), "// Stage 1: one\nint a;\n");
  EXPECT_EQ(stage_text(kernel, 2), "// Stage 2: two\nint b;") << "the last line has no end";
  EXPECT_EQ(stage_text(kernel, 3), "");
  EXPECT_EQ(stage_text("", 1), "");
  EXPECT_EQ(stage_text("int a;\n", 2), "int a;\n") << "no heads, one stage";
}

TEST(StageText, AHeadIsACommentAtTheStartOfALine) {
  EXPECT_EQ(stage_of_head("// Stage 12: twelve"), 12);
  EXPECT_EQ(stage_of_head("  // Stage 1: indented"), 0);
  EXPECT_EQ(stage_of_head("// Stages"), 0);
}

TEST(StageText, OfALineIsThatOfTheHeadAboveIt) {
  const std::string kernel = "x\n// Stage 1: one\nint a;\n// Stage 2: two\nint b;";
  for (const auto& [line, stage] : {std::pair(1, 0), {2, 1}, {3, 1}, {4, 2}, {5, 2}})
    EXPECT_EQ(stage_of_line(kernel, line), stage) << line;
}

TEST(StageText, OneStageOfAnotherFileLeavesTheRestAsItIs) {
  const std::string mine = "// mine\n// Stage 1: one\nint a = 1;\n// Stage 2: two\nint b = 2;\n";
  const std::string other = "// Stage 2: two\nint b;\n// Stage 1: one\nint a;";
  EXPECT_EQ(with_stage_of(mine, other, 1),
            "// mine\n// Stage 1: one\nint a;\n// Stage 2: two\nint b = 2;\n");
  EXPECT_EQ(with_stage_of(mine, other, 2),
            "// mine\n// Stage 1: one\nint a = 1;\n// Stage 2: two\nint b;\n");
  EXPECT_EQ(with_stage_of(mine, mine, 2), mine);
  EXPECT_EQ(with_stage_of(mine, other, 3), std::nullopt) << "neither has it";
  EXPECT_EQ(with_stage_of(mine + mine, other, 1), std::nullopt) << "twice";
  EXPECT_EQ(with_stage_of("int a;\n", other, 1), std::nullopt);
}

TEST(StageText, WithoutOtherStagesEveryLineStaysAtItsNumber) {
  const std::string kernel = "#include <x>\n// Stage 1: one\nint a;\n// Stage 2: two\nint b;";
  EXPECT_EQ(without_other_stages(kernel, 1), "#include <x>\n// Stage 1: one\nint a;\n\n");
  EXPECT_EQ(without_other_stages(kernel, 2), "#include <x>\n\n\n// Stage 2: two\nint b;");
  EXPECT_EQ(without_other_stages("int a;\n", 2), "int a;\n") << "no heads";
}

TEST(StageText, AStageKeepsTheEarlierOnesWhoseNamesItUses) {
  const std::string kernel =
      "// Stage 1: a constant\ninline constexpr int kWidth = 8;\n"
      "// Stage 2: uses it\nint f(int n) {\n  return n + kWidth;\n}\nSHAPE(two) {}\n"
      "// Stage 3: uses what uses it\nint g(int n) { return f(n); }\nSHAPE(three) {}\n"
      "// Stage 4: names both in a comment\nint h(int n) { return n; }  // f, kWidth\nSHAPE(four) "
      "{}\n"
      "// Stage 5: names a function in a string\nSHAPE(five) { then(\"h\"); }\n";
  const auto keeps = [&](int stage) {
    std::string kept;
    for (int other = 1; other <= 5; ++other)
      if (!stage_text(without_other_stages(kernel, stage), other).empty())
        kept += std::to_string(other);
    return kept;
  };
  EXPECT_EQ(keeps(1), "1");
  EXPECT_EQ(keeps(2), "12");
  EXPECT_EQ(keeps(3), "123");
  EXPECT_EQ(keeps(4), "4");
  EXPECT_EQ(keeps(5), "45");
}

}  // namespace
}  // namespace membound::course
