// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: AddsOneElement
// Why:   threads without an element bring the last element along once more, where a 0 is needed.
#include "kernel.cuh"

__global__ void reduce_tree(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float partial[kThreads];
  partial[threadIdx.x] = in[element < n ? element : n - 1];
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

LAUNCH_SHAPE(reduce_tree, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
