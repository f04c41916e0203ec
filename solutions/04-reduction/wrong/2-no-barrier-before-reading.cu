// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: AddsOneBlock
// Finds: data race in `if (element < n) atomicAdd(&block_sum, in[element]);`
// Why:   no barrier between adding to block_sum and reading it: thread 0 takes a sum to which only
//        its own warp has added.
#include "kernel.cuh"

// Warps of a block run in any order. This one is made to come late, so that the fault shows every
// time and not once in a while.
inline __device__ void come_late() {
  for (int i = 0; i < 100; ++i) __nanosleep(1000);
}

__global__ void reduce_shared_atomics(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float block_sum;
  if (threadIdx.x == 0) block_sum = 0.0f;
  __syncthreads();
  if (threadIdx.x >= kWarpLanes) come_late();
  if (element < n) atomicAdd(&block_sum, in[element]);
  if (threadIdx.x == 0) atomicAdd(sum, block_sum);
}

LAUNCH_SHAPE(reduce_shared_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
