// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// static shared memory and a barrier; the launch as <<<grid, block>>> takes it
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  __shared__ int piece[kThreads];
  const long long start = before_this_block(kThreads);
  const int count = static_cast<int>(n - start < kThreads ? n - start : kThreads);
  if (threadIdx.x < count) piece[count - 1 - threadIdx.x] = in[i];
  __syncthreads();
  if (threadIdx.x < count) out[n - start - count + threadIdx.x] = piece[threadIdx.x];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  const dim3 block(kThreads), grid(ceil_div(n, kThreads));
  shape.block = block;
  shape.grid = grid;
  return shape;
}
