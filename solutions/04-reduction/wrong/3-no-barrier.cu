// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: AddsOneBlock
// Finds: data race in `partial[threadIdx.x] = element < n ? in[element] : 0.0f;`
// Why:   no barrier in the tree: the first warp adds words that the other warps have not filled
//        yet.
#include "kernel.cuh"

// Warps of a block run in any order. This one is made to come late, so that the fault shows every
// time and not once in a while.
inline __device__ void come_late() {
  for (int i = 0; i < 100; ++i) __nanosleep(1000);
}

__global__ void reduce_tree(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float partial[kThreads];
  if (threadIdx.x >= kWarpLanes) come_late();
  partial[threadIdx.x] = element < n ? in[element] : 0.0f;
  for (int half = kThreads / 2; half > 0; half /= 2) {
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
