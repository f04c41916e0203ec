// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/result_text.hpp"

#include <gtest/gtest.h>

#include "grader/report/text.hpp"

namespace membound::report {
namespace {

const Style kPlainStyle{.colour = false, .unicode = false, .width = 80};

course::StageResult stage(double ratio, double wavefronts, int line) {
  course::StageResult result;
  result.device = "vgpu:h200";
  result.verdict = ratio < 0.75 ? course::Verdict::kSlow : course::Verdict::kPassed;
  result.ratio = ratio;
  result.source_lines = {{.file = "kernel.cu",
                          .line = 9,
                          .access = "load",
                          .unit = "sectors",
                          .requests = 8,
                          .per_request = 4},
                         {.file = "kernel.cu",
                          .line = line,
                          .access = "shared load",
                          .unit = "wavefronts",
                          .requests = 8,
                          .per_request = wavefronts}};
  return result;
}

TEST(WhatChanged, TellsVerdictRatioAndTheLineThatCostsSomethingElse) {
  EXPECT_EQ(what_changed(stage(0.67, 32, 120), stage(1.0, 1, 126), kPlainStyle),
            "too slow -> passed; 0.67 -> 1.00; line 126: 32 -> 1 wavefronts");
}

TEST(WhatChanged, SaysNothingWhereNothingChangedOrTheDeviceDid) {
  EXPECT_EQ(what_changed(stage(1.0, 1, 126), stage(1.001, 1, 130), kPlainStyle), "");
  course::StageResult other = stage(0.5, 32, 126);
  other.device = "vgpu:k80";
  EXPECT_EQ(what_changed(other, stage(1.0, 1, 126), kPlainStyle), "");
}

TEST(WhatChanged, ComparesNoAccessesOfWhichThereAreMoreNow) {
  course::StageResult now = stage(0.67, 32, 126);
  now.source_lines.push_back(now.source_lines.back());
  now.source_lines.back().per_request = 1;
  EXPECT_EQ(what_changed(stage(0.67, 32, 126), now, kPlainStyle), "");
}

TEST(LineDiff, MarksWhatOnlyOneOfThemHas) {
  EXPECT_EQ(line_diff("a\nmine\nb\n", "a\nours\nmore\nb\n", kPlainStyle),
            "  a\n- mine\n+ ours\n+ more\n  b\n");
  EXPECT_EQ(line_diff("", "a\n", kPlainStyle), "+ a\n");
  EXPECT_EQ(line_diff("a\n", "", kPlainStyle), "- a\n");
}

}  // namespace
}  // namespace membound::report
