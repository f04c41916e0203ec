// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// two kernels in a plan: a partial sum for each block goes through scratch, no atomics
#include "kernel.cuh"

constexpr int kMostBlocks = 1024;

__device__ float sum_of_block(float mine) {
  __shared__ float parts[32];
  for (int distance = 16; distance > 0; distance /= 2)
    mine += __shfl_down_sync(kAllLanes, mine, distance);
  if (threadIdx.x % kWarpLanes == 0) parts[threadIdx.x / kWarpLanes] = mine;
  __syncthreads();
  mine = threadIdx.x < blockDim.x / kWarpLanes ? parts[threadIdx.x] : 0;
  for (int distance = 16; distance > 0; distance /= 2)
    mine += __shfl_down_sync(kAllLanes, mine, distance);
  return mine;
}

__global__ void partial_sums(float*, const float* in, long long n, void* scratch) {
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  const long long me = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const float4* const vectors = reinterpret_cast<const float4*>(in);
  float sum = 0;
  for (long long i = me; i < n / 4; i += stride) {
    const float4 v = vectors[i];
    sum += (v.x + v.y) + (v.z + v.w);
  }
  if (me < n % 4) sum += in[n / 4 * 4 + me];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) static_cast<float*>(scratch)[blockIdx.x] = sum;
}

__global__ void sum_of_sums(float* sum, const float*, long long, void* scratch) {
  const float mine = sum_of_block(static_cast<const float*>(scratch)[threadIdx.x]);
  if (threadIdx.x == 0) *sum = mine;
}

__global__ void reduce_vector(float*, const float*, long long) {}
LAUNCH_PLAN(reduce_vector, long long n) {
  const unsigned blocks = static_cast<unsigned>(gpu.sm_count) * 2 / 32 * 32;
  const unsigned all = blocks < 32 ? 32 : blocks > kMostBlocks ? kMostBlocks : blocks;
  return membound::plan_with_scratch(4 * all)
      .then("partial_sums", {.grid = {all}, .block = {kThreads}})
      .then("sum_of_sums", {.grid = {1}, .block = {all}});
}
