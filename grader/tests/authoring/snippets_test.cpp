// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/authoring/handout_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace membound::authoring {
namespace {

using testing::ElementsAre;
using Lines = std::vector<std::string>;

const Lines kKernel = {
    "#include \"kernel.cuh\"",
    "",
    "// Stage 1: first",
    "// what it teaches",
    "void one() {",
    "  // [inner]",
    "  call();",
    "",
    "    deeper();",
    "  // [/inner]",
    "}",
    "",
    "// Stage 2: second",
    "void two();",
};

TEST(RegionOf, AStageIsItsCodeWithoutTheHead) {
  EXPECT_THAT(*region_of(kKernel, "stage-2"), ElementsAre("void two();"));
  EXPECT_THAT(*region_of(kKernel, "stage-1"),
              ElementsAre("void one() {", "  // [inner]", "  call();", "", "    deeper();",
                          "  // [/inner]", "}"));
}

TEST(RegionOf, ANamedRegionLosesItsCommonIndentation) {
  EXPECT_THAT(*region_of(kKernel, "inner"), ElementsAre("call();", "", "  deeper();"));
}

TEST(RegionOf, AMissingRegionIsNothing) {
  EXPECT_FALSE(region_of(kKernel, "stage-3"));
  EXPECT_FALSE(region_of(kKernel, "outer"));
}

TEST(RegionOf, ARegionThatNeverEndsIsNothing) {
  EXPECT_FALSE(region_of({"// [open]", "code"}, "open"));
}

}  // namespace
}  // namespace membound::authoring
