// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/report/result_text.hpp"

#include <gtest/gtest.h>

namespace membound::report {
namespace {

course::Stage asking() {
  course::Stage stage;
  stage.number = 2;
  stage.question = course::Question{"How many sectors?", "sectors", "global_load_sectors", ""};
  return stage;
}

TEST(Predictions, AreShownBesideTheCount) {
  EXPECT_EQ(said_and_counted(asking(), 4, 32), "Stage 2: you said 4 sectors; it was 32.\n");
  EXPECT_EQ(said_and_counted(asking(), 4, 4), "Stage 2: you said 4 sectors, and so it was.\n");
  EXPECT_EQ(said_and_counted(asking(), 1.2, 1.244),
            "Stage 2: you said 1.2 sectors, and so it was: 1.24.\n")
      << "an average over blocks at the edges, too";
  EXPECT_EQ(said_and_counted(asking(), 1.2, 1.28), "Stage 2: you said 1.2 sectors; it was 1.28.\n");
  EXPECT_EQ(said_and_counted(asking(), 192, 184), "Stage 2: you said 192 sectors; it was 184.\n");
  EXPECT_EQ(said_and_counted(asking(), 4, 3.977),
            "Stage 2: you said 4 sectors, and so it was: 3.98.\n");
}

TEST(Predictions, SayOfClangsCodeThatItIsNotTheSource) {
  course::Stage stage = asking();
  stage.question = course::Question{"How many loads?", "loads", "global_load_requests", "warps"};
  EXPECT_EQ(
      said_and_counted(stage, 1024, 1792, "clang 14.0.6"),
      "Stage 2: you said 1,024 loads; it was 1,792 in the code of clang 14.0.6, which may load "
      "a vector in parts, or repeat an access in two branches. Count the accesses in your "
      "source: your number may be right for them.\n");
  EXPECT_EQ(said_and_counted(stage, 1024, 1792, "nvcc 13.0.88"),
            "Stage 2: you said 1,024 loads; it was 1,792.\n");
  EXPECT_EQ(said_and_counted(stage, 1024, 1024, "clang 14.0.6"),
            "Stage 2: you said 1,024 loads, and so it was.\n");
  EXPECT_EQ(said_and_counted(asking(), 4, 32, "clang 14.0.6"),
            "Stage 2: you said 4 sectors; it was 32.\n")
      << "parts of a vector touch as many sectors as the vector";
  stage.question = course::Question{"How many?", "multiply-adds", "float32_instructions",
                                    "shared_load_requests"};
  EXPECT_NE(said_and_counted(stage, 16, 8, "clang 14.0.6").find("may load a vector in parts"),
            std::string::npos);
  stage.question = course::Question{"How many?", "shuffles", "collective_instructions", "warps"};
  EXPECT_EQ(said_and_counted(stage, 7, 10, "clang 14.0.6"),
            "Stage 2: you said 7 shuffles; it was 10.\n")
      << "no compiler splits a shuffle";
}

TEST(Predictions, OfAShareOfTimeAreNearWithinFivePoints) {
  course::Stage stage = asking();
  stage.question = course::Question{"What share?", "percent", "copy_time_percent", ""};
  EXPECT_EQ(said_and_counted(stage, 75, 71), "Stage 2: you said 75 percent, and so it was: 71.\n");
  EXPECT_EQ(said_and_counted(stage, 80, 71), "Stage 2: you said 80 percent; it was 71.\n");
}

TEST(Predictions, SayWhereNothingCounts) {
  EXPECT_EQ(
      said_and_counted(asking(), 4, std::nullopt),
      "Stage 2: you said 4 sectors; none of these were counted (on a GPU nothing is; --device vgpu "
      "counts).\n");
}

TEST(Predictions, OfAProgramNeedNoTimeBesideAReferenceAnswer) {
  course::Stage stage = asking();
  course::StageResult result;
  result.answer = 32;
  EXPECT_EQ(said_and_counted(stage, 4, result), "")
      << "a wrong kernel's tests are not what is asked";
  stage.kind = &course::kProgramStage;
  EXPECT_EQ(said_and_counted(stage, 4, result), "Stage 2: you said 4 sectors; it was 32.\n");
  result.answer.reset();
  EXPECT_EQ(said_and_counted(stage, 4, result), "");
  result.ratio = 1;
  EXPECT_NE(said_and_counted(stage, 4, result), "");
}

TEST(Predictions, AreSilentWhereNothingWasSaidOrAsked) {
  EXPECT_EQ(said_and_counted(asking(), std::nullopt, 32), "");
  EXPECT_EQ(said_and_counted(course::Stage{}, 4, 32), "");
}

}  // namespace
}  // namespace membound::report
