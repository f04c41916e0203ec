// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: HasTheRightSignature
// Why:   takes n as an int: another kernel than the one that kernel.cuh names.
#include "kernel.cuh"

__global__ void reduce_global_atomics(float* sum, const float* in, int n) {
  const int element = blockIdx.x * blockDim.x + threadIdx.x;
  if (element < n) atomicAdd(sum, in[element]);
}

LAUNCH_SHAPE(reduce_global_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
