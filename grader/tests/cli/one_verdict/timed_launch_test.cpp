// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What a launch can know of how and where it is run: the built program checks kernels of lab 01
/// that would like to.
#include <gmock/gmock.h>

#include "grader/base/process.hpp"
#include "grader/tests/judge/temporary_folder.hpp"

namespace membound::cli {
namespace {

/// Right, but at the timed size only where its module has launched nothing before.
constexpr char kRemembers[] = R"(#include "kernel.cuh"
__device__ unsigned launches;
__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  const bool again = n == 65536 && launches != 1;
  if (i < n && !again) out[n - 1 - i] = in[i];
}
LAUNCH_SHAPE(reverse_direct, long long n) {
  ++launches;
  return {.grid = dim3(ceil_div(n, kThreads)), .block = dim3(kThreads)};
}
)";

/// Right in every way, in clusters of two blocks, of which the virtual GPU has no model.
constexpr char kInClusters[] = R"(#include "kernel.cuh"
__global__ void __cluster_dims__(2, 1, 1) reverse_direct(int* out, const int* in, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}
LAUNCH_SHAPE(reverse_direct, long long n) {
  return {.grid = dim3(ceil_div(n, 2 * kThreads) * 2), .block = dim3(kThreads)};
}
)";

base::ProcessOutcome check(const char* text) {
  const judge::TemporaryFolder folder;
  const auto kernel = folder.write("kernel.cu", text);
  const auto outcome = base::run_process(
      {.arguments = {MEMBOUND_PROGRAM, "check", "01/1", "--device", "vgpu:h200", "--size", "65536",
                     "--compiler", "nvcc", "--submission", kernel.string()},
       .environment = {{"MEMBOUND_ROOT", MEMBOUND_SOURCE_DIR}},
       .timeout_seconds = 600});
  EXPECT_TRUE(outcome.ok());
  return outcome ? *outcome : base::ProcessOutcome();
}

TEST(TimedLaunch, FindsTheVariablesOfItsModuleAsTheyWereLoaded) {
  const base::ProcessOutcome outcome = check(kRemembers);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, testing::HasSubstr("passed"));
}

TEST(ClusterLaunch, IsRefusedWhereEachBlockWouldBeAlone) {
  const base::ProcessOutcome outcome = check(kInClusters);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_THAT(outcome.output, testing::HasSubstr("cudaErrorNotSupported"));
}

}  // namespace
}  // namespace membound::cli
