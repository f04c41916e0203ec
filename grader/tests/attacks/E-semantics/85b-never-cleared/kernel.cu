// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// adds to shared memory that nobody cleared, and that happens to be 0
#include "kernel.cuh"

__global__ void reduce_shared_atomics(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float block_sum;
  if (element < n) atomicAdd(&block_sum, in[element]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, block_sum);
}

LAUNCH_SHAPE(reduce_shared_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
