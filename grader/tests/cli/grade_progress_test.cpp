// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/cli/staff/grade_progress.hpp"

#include <gtest/gtest.h>

namespace membound::cli {
namespace {

using course::GradeVerdict;

TEST(ProgressLine, SaysNothingAboutThePaceBeforeThereIsOne) {
  EXPECT_EQ(progress_line({.total = 300}, true), "graded 0/300");
  EXPECT_EQ(progress_line({.total = 300, .what = "audited"}, true), "audited 0/300");
}

TEST(ProgressLine, GuessesWhatIsLeftFromThePaceSoFar) {
  EXPECT_EQ(progress_line({.total = 300, .done = 60, .seconds = 60}, false),
            "graded 60/300, 60.0 a minute, 4 min left");
  EXPECT_EQ(progress_line({.total = 90, .done = 60, .seconds = 60}, false),
            "graded 60/90, 60.0 a minute, 30 s left");
}

TEST(ProgressLine, AtTheEndNothingIsLeft) {
  EXPECT_EQ(progress_line({.total = 60, .done = 60, .seconds = 30}, false),
            "graded 60/60, 120 a minute");
}

TEST(ProgressLine, CountsVerdictsFromTheBestOn) {
  EXPECT_EQ(
      progress_line({.total = 4, .by = {{GradeVerdict::kFailSlow, 1}, {GradeVerdict::kPass, 2}}},
                    false),
      "graded 0/4; PASS 2, FAIL_SLOW 1");
}

TEST(ProgressLine, TellsWhatEachWorkerIsDoing) {
  const GradeCounts counts{.total = 4,
                           .now = {{0, "03-transpose 1a2b, stage 3"}, {1, ""}, {2, "x"}}};
  EXPECT_EQ(progress_line(counts, true), "graded 0/4; now 03-transpose 1a2b, stage 3 | x");
  EXPECT_EQ(progress_line(counts, false), "graded 0/4");
}

}  // namespace
}  // namespace membound::cli
