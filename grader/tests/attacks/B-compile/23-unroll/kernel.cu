// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// loops unrolled a million times
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  int x = in[0];
  #pragma unroll
  for (int a = 0; a < 1000; ++a)
  #pragma unroll
    for (int b = 0; b < 1000; ++b) x = __sinf(x * a + b) * 1000 + in[x & 7];
  out[0] = x;
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
