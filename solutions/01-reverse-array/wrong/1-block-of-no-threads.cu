// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: LeavesAnEmptyArrayAlone
// Why:   makes the block as small as the array; for n = 0 it is a block of no threads, which cannot
//        be launched.
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = n < kThreads ? n : kThreads;
  shape.grid = n < kThreads ? 1 : ceil_div(n, kThreads);
  return shape;
}
