// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// half of a block waits at a barrier for ever
#include "kernel.cuh"

// In global memory: ptxas drops a loop on a thread's own volatile variable.
__device__ volatile int go = 1;

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (threadIdx.x & 1) while (go) {}
  __syncthreads();
  if (i < n) out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
