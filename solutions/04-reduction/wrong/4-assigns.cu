// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 4
// Fails: SizesAroundABlock
// Finds: data race in `if (threadIdx.x == 0) *sum = value;`
// Why:   *sum = where the sums of several blocks have to be added: the last block wins.
#include "kernel.cuh"

__global__ void reduce_shuffle(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  __shared__ float partial[kThreads];
  partial[threadIdx.x] = element < n ? in[element] : 0.0f;
  for (int half = kThreads / 2; half >= kWarpLanes; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x < kWarpLanes) {
    float value = partial[threadIdx.x];
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      value += __shfl_down_sync(kAllLanes, value, distance);
    }
    if (threadIdx.x == 0) *sum = value;
  }
}

LAUNCH_SHAPE(reduce_shuffle, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
