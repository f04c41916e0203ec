// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 5
// Fails: RunsWithoutFault
// Finds: misaligned access in `const float4 four = vectors[vector];`
// Why:   reads vectors of 16 bytes from the second element on, at addresses that are no multiple of
//        16.
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

__global__ void reduce_vector_clear(float* sum, const float* in, long long n, void* scratch) {
  *sum = 0.0f;
}

__global__ void reduce_vector_add(float* sum, const float* in, long long n, void* scratch) {
  const long long thread = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  float value = 0.0f;
  if (thread == 0 && n > 0) value += in[0];
  const float4* vectors = reinterpret_cast<const float4*>(in + 1);
  for (long long vector = thread; vector < (n - 1) / 4; vector += threads) {
    const float4 four = vectors[vector];
    value += (four.x + four.y) + (four.z + four.w);
  }
  const long long left_over = 1 + (n - 1) / 4 * 4 + thread;
  if (left_over < n) value += in[left_over];
  value = block_sum(value);
  if (threadIdx.x == 0) atomicAdd(sum, value);
}

LAUNCH_PLAN(reduce_vector, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  const long long blocks_per_sm = gpu.max_threads_per_sm / kThreads;
  plan.then("reduce_vector_clear", {1, 1});
  plan.then("reduce_vector_add", {gpu.sm_count * blocks_per_sm, kThreads});
  return plan;
}
