// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: ReachesItsBar
// Why:   reads the two words of a pair with two loads: in each of them two lanes meet in a bank.
#include "kernel.cuh"

__global__ void correlate(int* out, const int* in, int n, int k) {
  __shared__ int words[(kThreads + kWindow) * kMostWords];

  const long long first = before_this_block(kThreads);
  const long long left = (n - first) * k;
  for (int p = threadIdx.x; p < (kThreads + kWindow) * k; p += kThreads) {
    words[p] = p < left ? in[first * k + p] : 0;
  }
  __syncthreads();

  int sum = 0;
  if (k == 2) {
    const int x = words[2 * threadIdx.x], y = words[2 * threadIdx.x + 1];
    for (int j = 1; j <= kWindow; ++j) {
      sum += x * words[2 * (threadIdx.x + j)] + y * words[2 * (threadIdx.x + j) + 1];
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
