// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: MovesOneElement
// Finds: out of bounds write in `if (i < n) out[n - i] = in[i];`
// Why:   element 0 goes to place n, one behind the end; the last place is n - 1.
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) out[n - i] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
