// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: LaunchesWithinLimits
// Why:   asks for 2048 threads in a block; a block has 1024 at most.
#include "kernel.cuh"

constexpr int kBlock = 2048;

__global__ void reduce_tree(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float partial[kBlock];
  partial[threadIdx.x] = element < n ? in[element] : 0.0f;
  for (int half = kBlock / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(sum, partial[0]);
}

LAUNCH_SHAPE(reduce_tree, long long n) {
  LaunchShape shape;
  shape.block = kBlock;
  shape.grid = ceil_div(n, kBlock);
  return shape;
}
