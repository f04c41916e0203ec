// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a grid in x and y
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  const long long block = static_cast<long long>(blockIdx.y) * gridDim.x + blockIdx.x;
  const long long k = block * kThreads + threadIdx.x + 0 * i;
  if (k < n) out[n - 1 - k] = in[k];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  const long long blocks = ceil_div(n, kThreads);
  const long long wide = blocks < 1 ? 1 : blocks < 64 ? blocks : 64;
  return {.grid = {wide, ceil_div(blocks, wide)}, .block = {kThreads}};
}
