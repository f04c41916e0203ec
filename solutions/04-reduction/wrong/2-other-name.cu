// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: HasTheRightSignature
// Why:   the kernel is called reduce_shared_atomic: the grader finds no kernel of the stage's name.
#include "kernel.cuh"

__global__ void reduce_shared_atomic(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float block_sum;
  if (threadIdx.x == 0) block_sum = 0.0f;
  __syncthreads();
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
