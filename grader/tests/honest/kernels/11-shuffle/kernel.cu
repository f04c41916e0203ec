// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// turns a warp round with shuffles
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  const int lane = threadIdx.x & 31;
  const int x = i < n ? in[i] : 0;
  const int turned = __shfl_xor_sync(0xFFFFFFFF, __shfl_xor_sync(0xFFFFFFFF, x, 31), 31);
  if (i < n) out[n - 1 - i] = lane >= 0 ? turned : 0;
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
