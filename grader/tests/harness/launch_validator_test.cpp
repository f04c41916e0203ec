// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/launch_validator.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace membound::harness {
namespace {

using testing::HasSubstr;

/// An H200.
DeviceLimits device() {
  DeviceLimits limits;
  limits.grid = {2147483647, 65535, 65535};
  limits.block = {1024, 1024, 64};
  limits.threads_per_block = 1024;
  limits.shared_bytes_per_block = 232448;
  limits.registers_per_block = 65536;
  limits.free_bytes = 1 << 30;
  return limits;
}

KernelLimits kernel() { return {"transpose_tiled<float>", 4096, 1024, 32}; }

PlanShape shape(PlanExtent grid, PlanExtent block, std::int64_t shared_bytes = 0) {
  return {grid, block, shared_bytes};
}

std::string refusal(const PlanShape& wanted, const KernelLimits& limits = kernel(),
                    bool empty = false) {
  const base::Status status = check_shape(wanted, limits, device(), empty,
                                          "LAUNCH_SHAPE(transpose_tiled)", "rows = 5, cols = 7");
  return status ? "" : base::to_string(status.error());
}

TEST(LaunchValidator, AnOrdinaryLaunchPasses) {
  EXPECT_EQ(refusal(shape({132, 1, 1}, {32, 8, 1}, 1000)), "");
}

TEST(LaunchValidator, TheLargestLaunchPasses) {
  EXPECT_EQ(refusal(shape({2147483647, 65535, 65535}, {16, 1, 64}, 232448 - 4096)), "");
}

TEST(LaunchValidator, ACooperativeLaunchHasNoMoreBlocksThanRunAtOnce) {
  KernelLimits limits = kernel();
  limits.blocks_at_once = 264;
  PlanShape wanted = shape({132, 2, 1}, {256, 1, 1});
  wanted.cooperative = 1;
  EXPECT_EQ(refusal(wanted, limits), "");
  wanted.grid.z = 2;
  EXPECT_THAT(refusal(wanted, limits), HasSubstr("a cooperative launch of 528 blocks"));
  EXPECT_THAT(refusal(wanted, limits), HasSubstr("at most 264 blocks"));
  wanted.cooperative = 0;
  EXPECT_EQ(refusal(wanted, limits), "");
}

TEST(LaunchValidator, EachLimitIsNamed) {
  const std::int64_t far = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refusal(shape({2147483648, 1, 1}, {1, 1, 1})), HasSubstr("grid.x = 2147483648"));
  EXPECT_THAT(refusal(shape({1, 65536, 1}, {1, 1, 1})), HasSubstr("grid.y from 1 to 65535"));
  EXPECT_THAT(refusal(shape({1, 1, 65536}, {1, 1, 1})), HasSubstr("grid.z = 65536"));
  EXPECT_THAT(refusal(shape({1, 1, 1}, {1025, 1, 1})), HasSubstr("block.x = 1025"));
  EXPECT_THAT(refusal(shape({1, 1, 1}, {1, 1025, 1})), HasSubstr("block.y = 1025"));
  EXPECT_THAT(refusal(shape({1, 1, 1}, {1, 1, 65})), HasSubstr("block.z from 1 to 64"));
  EXPECT_THAT(refusal(shape({1, 1, 1}, {64, 32, 1})), HasSubstr("= 2048 threads"));
  EXPECT_THAT(refusal(shape({1, 1, 1}, {1, 1, 1}, 232449)), HasSubstr("shared_bytes = 232449"));
  EXPECT_THAT(refusal(shape({1, 1, 1}, {1, 1, 1}, far)), HasSubstr("at most 232448 bytes"));
  EXPECT_THAT(refusal(shape({1, 1, 1}, {1, 1, 1}, -4)), HasSubstr("shared_bytes = -4"));
}

TEST(LaunchValidator, TheMessageTellsForWhichSizes) {
  EXPECT_THAT(refusal(shape({0, 1, 1}, {1, 1, 1})),
              HasSubstr("LAUNCH_SHAPE(transpose_tiled): grid.x = 0 for rows = 5, cols = 7"));
}

TEST(LaunchValidator, DeclaredAndDynamicSharedMemoryCountTogether) {
  const std::string text = refusal(shape({1, 1, 1}, {1, 1, 1}, 232448 - 4095));
  EXPECT_THAT(text, HasSubstr("on top of the 4096 bytes that transpose_tiled<float> declares"));
}

TEST(LaunchValidator, RegistersLimitTheBlock) {
  KernelLimits hungry = kernel();
  hungry.threads_per_block = 256;
  hungry.registers_per_thread = 255;
  const std::string text = refusal(shape({1, 1, 1}, {32, 16, 1}), hungry);
  EXPECT_THAT(text, HasSubstr("255 registers per thread"));
  EXPECT_THAT(text, HasSubstr("at most 256 threads per block"));
  EXPECT_EQ(refusal(shape({1, 1, 1}, {32, 8, 1}), hungry), "");
}

TEST(LaunchValidator, AnEmptyGridIsForEmptySizesOnly) {
  const PlanShape nothing = shape({0, 1, 1}, {256, 1, 1});
  EXPECT_EQ(refusal(nothing, kernel(), true), "");
  EXPECT_THAT(refusal(nothing), HasSubstr("round the number of blocks up"));
  EXPECT_TRUE(is_empty_grid(nothing));
  EXPECT_FALSE(is_empty_grid(shape({1, 1, 1}, {1, 1, 1})));
}

TEST(LaunchValidator, NegativeBlocksAreRefusedEvenWhenEmpty) {
  EXPECT_THAT(refusal(shape({-1, 1, 1}, {1, 1, 1}), kernel(), true), HasSubstr("grid.x = -1"));
}

TEST(LaunchValidator, AnEmptyBlockIsNeverAllowed) {
  EXPECT_THAT(refusal(shape({1, 1, 1}, {0, 1, 1}), kernel(), true), HasSubstr("block.x = 0"));
}

PlanRecord record(int steps, std::int64_t scratch_bytes, int parameters = 2) {
  PlanRecord one{};
  one.step_count = steps;
  one.scratch_bytes = scratch_bytes;
  one.parameter_count = parameters;
  return one;
}

std::string record_refusal(const PlanRecord& wanted) {
  const base::Status status = check_record(wanted, 2, device(), "LAUNCH_PLAN(reduce_fast)");
  return status ? "" : base::to_string(status.error());
}

TEST(LaunchValidator, RecordsWithinLimitsPass) {
  EXPECT_EQ(record_refusal(record(1, 0)), "");
  EXPECT_EQ(record_refusal(record(8, 1 << 30)), "");
}

TEST(LaunchValidator, RecordsOutsideAreRefusedByName) {
  EXPECT_THAT(record_refusal(record(9, 0)), HasSubstr("9 launches"));
  EXPECT_THAT(record_refusal(record(0, 0)), HasSubstr("without a launch"));
  EXPECT_THAT(record_refusal(record(1, -8)), HasSubstr("scratch of -8 bytes"));
  EXPECT_THAT(record_refusal(record(1, (1LL << 30) + 1)), HasSubstr("that are left"));
  EXPECT_THAT(record_refusal(record(1, 0, 3)), HasSubstr("it takes 3 sizes"));
}

}  // namespace
}  // namespace membound::harness
