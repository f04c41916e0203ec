// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 6
// Fails: AddsOneBlock
// Finds: out of bounds write in `of_block[blockIdx.x] = block;`
// Why:   asks for one float of scratch less than there are blocks: the last one writes behind it.
#include "kernel.cuh"

inline constexpr int kFastThreads = 1024;
inline constexpr int kBlocksPerSm = 2;
inline constexpr int kInFlight = 4;

inline __device__ float fast_block_sum(float value) {
  __shared__ float of_warp[kFastThreads / kWarpLanes];
  for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    value += __shfl_down_sync(kAllLanes, value, distance);
  }
  if (threadIdx.x % kWarpLanes == 0) of_warp[threadIdx.x / kWarpLanes] = value;
  __syncthreads();
  if (threadIdx.x < kWarpLanes) {
    value = of_warp[threadIdx.x];
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2) {
      value += __shfl_down_sync(kAllLanes, value, distance);
    }
  }
  return value;
}

__device__ unsigned finished_blocks;

__global__ void __launch_bounds__(kFastThreads, kBlocksPerSm)
    reduce_fast_kernel(float* sum, const float* in, long long n, void* scratch) {
  const float4* vectors = reinterpret_cast<const float4*>(in);
  const long long count = n / 4;
  const long long step = static_cast<long long>(gridDim.x) * kInFlight * kFastThreads;
  long long first = static_cast<long long>(blockIdx.x) * kInFlight * kFastThreads + threadIdx.x;
  float value[kInFlight] = {};
  for (; first + (kInFlight - 1) * kFastThreads < count; first += step) {
    float4 four[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) four[i] = vectors[first + i * kFastThreads];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      value[i] += (four[i].x + four[i].y) + (four[i].z + four[i].w);
    }
  }

  for (int i = 0; i < kInFlight; ++i) {
    const long long vector = first + i * kFastThreads;
    if (vector < count) {
      const float4 four = vectors[vector];
      value[0] += (four.x + four.y) + (four.z + four.w);
    }
  }
  if (blockIdx.x == 0 && threadIdx.x < n % 4) value[0] += in[count * 4 + threadIdx.x];

  float* of_block = static_cast<float*>(scratch);
  __shared__ bool last;
  const float block = fast_block_sum((value[0] + value[1]) + (value[2] + value[3]));
  if (threadIdx.x == 0) {
    of_block[blockIdx.x] = block;
    __threadfence();
    last = atomicInc(&finished_blocks, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;

  float total = 0.0f;
  for (int i = threadIdx.x; i < gridDim.x; i += kFastThreads) total += __ldcg(&of_block[i]);
  total = fast_block_sum(total);
  if (threadIdx.x == 0) *sum = total;
}

LAUNCH_PLAN(reduce_fast, long long n) {
  LaunchPlan plan = plan_with_scratch(0);
  const long long blocks = static_cast<long long>(gpu.sm_count) * kBlocksPerSm;
  plan.scratch_bytes = (blocks - 1) * sizeof(float);
  plan.then("reduce_fast_kernel", {blocks, kFastThreads});
  return plan;
}
