// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// macros for everything
#include "kernel.cuh"
#define GUARD(a, b) if ((a) < (b))
#define MOVE(to, at_to, from, at_from) ((to)[(at_to)] = (from)[(at_from)])

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  GUARD(i, n) MOVE(out, n - 1 - i, in, i);
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
