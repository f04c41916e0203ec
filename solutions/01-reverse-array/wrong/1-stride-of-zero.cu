// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: FinishesInTime
// Why:   steps on by all blocks but one; with a single block the step is 0 and the loop never ends.
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long stride = static_cast<long long>(gridDim.x - 1) * kThreads;
  for (long long i = before_this_block(kThreads) + threadIdx.x; i < n; i += stride) {
    out[n - 1 - i] = in[i];
  }
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
