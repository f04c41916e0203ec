// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// A student's check in one process: what a kernel prints, and one test alone.
#include "grader/tests/judge/split/split_fixture.hpp"

namespace membound::judge {
namespace {

using OneCheck = Split;

/// Stage 1 of lab 01 whose every thread prints its number and which then does nothing.
constexpr char kPrints[] = R"(#include "kernel.cuh"
#include <cstdio>
__global__ void reverse_direct(int* out, const int* in, long long n) {
  printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}
LAUNCH_SHAPE(reverse_direct, long long n) {
  return {.grid = {ceil_div(n, kThreads)}, .block = {kThreads}};
}
)";

TEST_F(OneCheck, ShowsWhatTheKernelOfAFailedTestPrints) {
  CheckRequest request = request_for("01-reverse-array", kernel_of(kPrints));
  request.stages = {1};
  request.more_arguments = {"--quick", "--gtest_filter=*.ReversesOneBlock"};
  const course::Result result = run(request);
  ASSERT_EQ(result.stages.size(), 1U);
  std::vector<std::string> failed;
  for (const course::TestOutcome& test : result.stages[0].tests) {
    if (!test.failed()) continue;
    failed.push_back(test.name);
    EXPECT_THAT(test.message, testing::HasSubstr("Your kernels printed:\n  thread 0 of block 0\n"));
    EXPECT_THAT(test.message, testing::HasSubstr("thread 19 of block 0\n  … and 236 more lines"));
  }
  EXPECT_THAT(failed, testing::ElementsAre("ReversesOneBlock")) << "the named test alone";
}

}  // namespace
}  // namespace membound::judge
