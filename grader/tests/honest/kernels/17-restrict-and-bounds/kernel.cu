// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// __restrict__ in the body, __launch_bounds__
#include "kernel.cuh"

__global__ void __launch_bounds__(kThreads, 4) reverse_direct(int* out, const int* in, long long n) {
  int* __restrict__ const to = out;
  const int* __restrict__ const from = in;
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) to[n - 1 - i] = from[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
