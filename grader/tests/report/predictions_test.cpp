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
  EXPECT_EQ(said_and_counted(asking(), 4, 3.977),
            "Stage 2: you said 4 sectors, and so it was: 3.98.\n");
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
