// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// device functions that call one another
#include "kernel.cuh"
__device__ __noinline__ int load(const int* in, long long i) { return in[i]; }
__device__ long long mirrored(long long i, long long n) { return n - 1 - i; }
__device__ void store(int* out, long long n, long long i, int x) { out[mirrored(i, n)] = x; }

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) store(out, n, i, load(in, i));
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
