// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 4-slow-shared-atomics fails ReachesItsBar
// Why: the answer to stage 2: 256 additions in a row in every block.
#include "kernel.cuh"

__global__ void reduce_shuffle(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float block_sum;
  if (threadIdx.x == 0) block_sum = 0.0f;
  __syncthreads();
  if (element < n) atomicAdd(&block_sum, in[element]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, block_sum);
}

LAUNCH_SHAPE(reduce_shuffle, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
