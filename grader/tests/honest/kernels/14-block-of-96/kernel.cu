// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// blocks of three warps in two dimensions
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  const int t = threadIdx.y * 32 + threadIdx.x;
  const long long k = static_cast<long long>(blockIdx.x) * 96 + t + 0 * i;
  if (k < n) out[n - 1 - k] = in[k];
}

LAUNCH_SHAPE(reverse_direct, long long n) { return {.grid = {ceil_div(n, 96)}, .block = {32, 3}}; }
