// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/program/work_report.hpp"

#include <gtest/gtest.h>

namespace membound::harness {
namespace {

TEST(WorkReport, ReadsWhatTheClockWrites) {
  const auto operations =
      operations_from_text(line_of(WorkKind::kCopyIn, 11500.5) + line_of(WorkKind::kAll, 0) +
                           line_of(WorkKind::kGraph, 2e9));
  ASSERT_TRUE(operations);
  ASSERT_EQ(operations->size(), 3U);
  EXPECT_EQ((*operations)[0].kind, WorkKind::kCopyIn);
  EXPECT_DOUBLE_EQ((*operations)[0].ns, 11500.5);
  EXPECT_EQ((*operations)[2].kind, WorkKind::kGraph);
}

TEST(WorkReport, RefusesOtherLines) {
  for (const char* text : {"all\n", "all x\n", "soon 5\n", "\n", "kernel -1\n"})
    EXPECT_FALSE(operations_from_text(text)) << text;
}

TEST(AloneTimes, TheIdealIsTheLongestPartAndOnePieceOfTheOthers) {
  std::vector<Operation> operations;
  for (int i = 0; i < 8; ++i)
    operations.insert(operations.end(),
                      {{WorkKind::kCopyIn, 10}, {WorkKind::kKernel, 25}, {WorkKind::kCopyOut, 12}});
  const AloneTimes alone = alone_times(operations);
  EXPECT_EQ(alone.kernels, 8);
  EXPECT_DOUBLE_EQ(alone.total_ns(), 376);
  EXPECT_DOUBLE_EQ(alone.ideal_ns(), 200 + 10 + 12);
}

TEST(AloneTimes, OnePieceCanOverlapNothing) {
  const AloneTimes alone =
      alone_times({{WorkKind::kCopyIn, 10}, {WorkKind::kKernel, 25}, {WorkKind::kCopyOut, 12}});
  EXPECT_DOUBLE_EQ(alone.ideal_ns(), alone.total_ns());
}

}  // namespace
}  // namespace membound::harness
