// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 5
// Fails: ReachesItsBar
// Why:   the answer to stage 4: 4 bytes per thread, and a block with barriers and an atomic
//        addition for every 256 elements.
#include "kernel.cuh"

__global__ void reduce_vector_clear(float* sum, const float* in, long long n, void* scratch) {
  *sum = 0.0f;
}

__global__ void reduce_vector_add(float* sum, const float* in, long long n, void* scratch) {
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
    if (threadIdx.x == 0) atomicAdd(sum, value);
  }
}

LAUNCH_PLAN(reduce_vector, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  plan.then("reduce_vector_clear", {1, 1});
  plan.then("reduce_vector_add", {n > 0 ? ceil_div(n, kThreads) : 1, kThreads});
  return plan;
}
