// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/reports.hpp"

#include <gmock/gmock.h>

namespace membound::vgpu::runtime {
namespace {

using testing::HasSubstr;
using timing::BoundKind;

TEST(RunSummary, TellsTheSlowestKernelFirstAndWhatBoundMostOfIt) {
  RunSummary summary;
  summary.add("quick", 10, BoundKind::kLaunch);
  summary.add("slow", 100, BoundKind::kLatency);
  summary.add("slow", 2000, BoundKind::kDram);
  const std::string text = summary.text("NVIDIA H200 (virtual)");
  EXPECT_THAT(text, HasSubstr("2 kernels in 3 launches, predicted to take 2.11 us on the NVIDIA "
                              "H200 (virtual)"));
  EXPECT_THAT(text, HasSubstr("2.1 us in 2 launches, bound by DRAM bandwidth"));
  EXPECT_LT(text.find("slow"), text.find("quick"));
}

TEST(RunSummary, CountsTheKernelsItLeavesOut) {
  RunSummary summary;
  for (int i = 0; i < 11; ++i) summary.add("k" + std::to_string(i), 10, BoundKind::kLaunch);
  EXPECT_THAT(summary.text("GPU"), HasSubstr("and 3 more kernels"));
}

TEST(RunSummary, SaysWhereNothingWasLaunched) {
  EXPECT_EQ(RunSummary().text("GPU"), "no kernel was launched on the GPU");
}

TEST(RunSummary, CountsFindingsOrSaysWhatWouldBeLookedFor) {
  EXPECT_EQ(findings_line(true, 0), "no findings");
  EXPECT_EQ(findings_line(true, 1), "1 finding");
  EXPECT_EQ(findings_line(true, 7), "7 findings");
  EXPECT_THAT(findings_line(false, 0), HasSubstr("--check all"));
}

}  // namespace
}  // namespace membound::vgpu::runtime
