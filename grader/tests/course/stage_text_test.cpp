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

}  // namespace
}  // namespace membound::course
