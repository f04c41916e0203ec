// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 3-one-int-per-thread fails ReachesItsBar
// Why: the answer of stage 1 once more: 4 bytes in flight per thread are too few.
#include "kernel.cuh"

__global__ void reverse_vector(int* out, const int* in, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
