// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: AddsOneBlock
// Finds: data race in `if (element < n) *sum += in[element];`
// Why:   adds without an atomic operation: of all lanes that load *sum at the same time, only one
//        stores what remains.
#include "kernel.cuh"

__global__ void reduce_global_atomics(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (element < n) *sum += in[element];
}

LAUNCH_SHAPE(reduce_global_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
