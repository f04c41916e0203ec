// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a loop over the grid, few blocks
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long k = i; k < n; k += step) out[n - 1 - k] = in[k];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  const long long most = 4ll * gpu.sm_count;
  const long long all = ceil_div(n, kThreads);
  return {.grid = {all < most ? all : most}, .block = {kThreads}};
}
