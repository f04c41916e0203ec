// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: SizesAroundABlock
// Why:   leaves blockIdx out, so every block adds the first 256 elements again.
#include "kernel.cuh"

__global__ void reduce_global_atomics(float* sum, const float* in, long long n) {
  const long long element = threadIdx.x;
  if (element < n) atomicAdd(sum, in[element]);
}

LAUNCH_SHAPE(reduce_global_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
