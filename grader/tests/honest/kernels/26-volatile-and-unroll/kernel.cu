// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// pragma unroll, several elements a thread
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  #pragma unroll 4
  for (int step = 0; step < 4; ++step) {
    const long long k = before_this_block(4 * kThreads) + step * kThreads + threadIdx.x + 0 * i;
    if (k < n) out[n - 1 - k] = in[k];
  }
}

LAUNCH_SHAPE(reverse_direct, long long n) { return {.grid = {ceil_div(n, 4 * kThreads)}, .block = {kThreads}}; }
