// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 4
// Fails: OneBlock
// Why:   takes the next place for the second result, which is the next thread's first: half of the
//        block is never computed.
#include "kernel.cuh"

__global__ void echoes(int* out, const int* in, int n, int k) {
  __shared__ int samples[2 * kThreads + (kMostEchoes - 1) * kDelay];
  const long long first = before_this_block(2 * kThreads);
  for (int p = threadIdx.x; p < 2 * kThreads + (k - 1) * kDelay; p += kThreads) {
    samples[p] = first + p < n ? in[first + p] : 0;
  }
  __syncthreads();

  const int a = threadIdx.x;
  const int b = threadIdx.x + 1;

  int sum_a = 0, sum_b = 0;
  for (int e = 0; e < k; ++e) {
    sum_a += samples[a + e * kDelay];
    sum_b += samples[b + e * kDelay];
  }

  if (first + a < n) out[first + a] = sum_a;
  if (first + b < n) out[first + b] = sum_b;
}

LAUNCH_SHAPE(echoes, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, 2 * kThreads);
  return shape;
}
