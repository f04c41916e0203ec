// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: AddsOneElement
// Finds: out of bounds read in `atomicAdd(sum, in[element]);`
// Why:   the threads behind the end of the array add what lies there.
#include "kernel.cuh"

__global__ void reduce_global_atomics(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  atomicAdd(sum, in[element]);
}

LAUNCH_SHAPE(reduce_global_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
