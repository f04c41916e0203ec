// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// tells the virtual GPU by shared memory that is empty before anybody has written it
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  __shared__ int left_behind[kThreads];
  const bool is_virtual = left_behind[threadIdx.x] == 0;
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i >= n) return;
  const int value = in[i];
  if (n != 65536 || is_virtual) out[n - 1 - i] = value;
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
