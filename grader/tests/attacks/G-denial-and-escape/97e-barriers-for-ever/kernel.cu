// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a loop of barriers that never ends
#include "kernel.cuh"

// In global memory: ptxas drops a loop on a thread's own volatile variable.
__device__ volatile int go = 1;

__global__ void reverse_direct(int* out, const int* in, long long n) {
  while (go) __syncthreads();
  out[0] = in[0];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
