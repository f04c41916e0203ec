// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a timed launch can know of how it is run. The built program checks a kernel of lab 01 that
/// remembers its launches in a variable of the device.
#include <gmock/gmock.h>

#include "grader/base/process.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::cli {
namespace {

/// Right, but at the timed size only where the kernel has not run before.
constexpr char kRemembers[] = R"(#include "kernel.cuh"
__device__ unsigned launches;
__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  const bool again = n == 65536 && launches != 0;
  if (i < n && !again) out[n - 1 - i] = in[i];
  if (n != 65536 && i == 0) atomicAdd(&launches, 1);
}
LAUNCH_SHAPE(reverse_direct, long long n) {
  return {.grid = {ceil_div(n, kThreads)}, .block = {kThreads}};
}
)";

TEST(TimedLaunch, FindsTheVariablesOfItsModuleAsTheyWereLoaded) {
  const judge::TemporaryFolder folder;
  const auto kernel = folder.write("kernel.cu", kRemembers);
  const auto outcome =
      base::run_process({.arguments = {MEMBOUND_PROGRAM, "check", "01/1", "--device", "vgpu:h200",
                                       "--size", "65536", "--submission", kernel.string()},
                         .environment = {{"MEMBOUND_ROOT", MEMBOUND_SOURCE_DIR}},
                         .timeout_seconds = 600});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->exit_code, 0) << outcome->output;
  EXPECT_THAT(outcome->output, testing::HasSubstr("passed"));
}

}  // namespace
}  // namespace membound::cli
