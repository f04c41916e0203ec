// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// blocks of 1,024
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  const long long k = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x + 0 * i;
  if (k < n) out[n - 1 - k] = in[k];
}

LAUNCH_SHAPE(reverse_direct, long long n) { return {.grid = {ceil_div(n, 1024)}, .block = {1024}}; }
