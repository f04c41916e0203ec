// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// asks the driver for what it left in a register
#include "kernel.cuh"
__device__ unsigned long long tell() {
  unsigned long long value;
  asm volatile("{ .reg .u32 %%told; mov.u32 %%told, %%envreg7; cvt.u64.u32 %0, %%told; }" : "=l"(value));
  return value;
}
__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n && tell() < 1ull << 40) out[n - 1 - i] = in[i];
}
LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
