// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: RunsWithoutFault
// Finds: out of bounds read in `out[place] = in[i];`
// Why:   surplus threads are not stopped, and their place, below 0, is kept in an unsigned number:
//        16 GB behind the array.
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  const unsigned place = static_cast<unsigned>(n - 1 - i);
  out[place] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
