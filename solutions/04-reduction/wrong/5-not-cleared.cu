// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 5
// Fails: AddsOneBlock
// Finds: uninitialised read in `if (threadIdx.x == 0) atomicAdd(sum, value);`
// Why:   adds to the rubbish that *sum holds before the stage.
#include "kernel.cuh"

inline __device__ float block_sum(float value) {
  __shared__ float partial[kThreads];
  partial[threadIdx.x] = value;
  for (int half = kThreads / 2; half >= kWarpLanes; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  value = partial[threadIdx.x];
  if (threadIdx.x < kWarpLanes) {
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      value += __shfl_down_sync(kAllLanes, value, distance);
    }
  }
  return value;
}

__global__ void reduce_vector_add(float* sum, const float* in, long long n, void* scratch) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  float value = 0.0f;
  const float4* vectors = reinterpret_cast<const float4*>(in);
  for (long long vector = thread; vector < n / 4; vector += threads) {
    const float4 four = vectors[vector];
    value += (four.x + four.y) + (four.z + four.w);
  }
  const long long left_over = n / 4 * 4 + thread;
  if (left_over < n) value += in[left_over];
  value = block_sum(value);
  if (threadIdx.x == 0) atomicAdd(sum, value);
}

LAUNCH_PLAN(reduce_vector, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  const long long blocks_per_sm = gpu.max_threads_per_sm / kThreads;
  plan.then("reduce_vector_add", {gpu.sm_count * blocks_per_sm, kThreads});
  return plan;
}
