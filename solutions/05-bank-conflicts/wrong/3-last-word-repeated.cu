// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: OneElement
// Why:   continues the data behind their end with their last word in place of 0.
#include "kernel.cuh"

__global__ void correlate(int* out, const int* in, int n, int k) {
  alignas(8) __shared__ int words[(kThreads + kWindow) * kMostWords];

  const long long first = before_this_block(kThreads);
  const long long left = (n - first) * k;
  for (int p = threadIdx.x; p < (kThreads + kWindow) * k; p += kThreads) {
    words[p] = in[p < left ? first * k + p : static_cast<long long>(n) * k - 1];
  }
  __syncthreads();

  int sum = 0;
  if (k == 2) {
    const int2* const pairs = reinterpret_cast<const int2*>(words);
    const int2 own = pairs[threadIdx.x];
    for (int j = 1; j <= kWindow; ++j) {
      const int2 other = pairs[threadIdx.x + j];
      sum += own.x * other.x + own.y * other.y;
    }
  }

  if (k == 3) {
    const int* const own = words + 3 * threadIdx.x;
    const int x = own[0], y = own[1], z = own[2];
    for (int j = 1; j <= kWindow; ++j) {
      sum += x * own[3 * j] + y * own[3 * j + 1] + z * own[3 * j + 2];
    }
  }

  if (first + threadIdx.x < n) out[first + threadIdx.x] = sum;
}

LAUNCH_SHAPE(correlate, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
