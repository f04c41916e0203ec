// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// asks for more scratch than there is memory, to make the grader fail in its place
#include "kernel.cuh"

__global__ void only_pass(float* sum, const float* in, long long n, void* scratch) {
  if (threadIdx.x == 0) *sum = 0;
}

LAUNCH_PLAN(reduce_vector, long long n) {
  return plan_with_scratch(1LL << 60).then("only_pass", {.grid = {1}, .block = {32}});
}
