// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// volatile words that lanes of a warp pass each other in step
#include "kernel.cuh"

__global__ void reduce_tree(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ volatile float partial[kThreads];
  partial[threadIdx.x] = element < n ? in[element] : 0.0f;

  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (half >= kWarpLanes) __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] = partial[threadIdx.x] + partial[threadIdx.x + half];
  }

  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

LAUNCH_SHAPE(reduce_tree, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
