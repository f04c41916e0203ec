// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 4
// Fails: RoadsThatGoBothWays
// Finds: data race in `panel_in[p][thread] = in[at(first_via + p, blockIdx.y *`
// Why:   no barrier between reading the panels and filling them anew: the first warp overwrites
//        what the second still needs.
#include "kernel.cuh"

// Warps of a block run in any order. This one is made to come late, so that the fault shows every
// time and not once in a while.
inline __device__ void come_late() {
  for (int i = 0; i < 100; ++i) __nanosleep(1000);
}

inline __device__ float* roads_in(void* scratch) {  // [via][from] = d[from][via]
  return static_cast<float*>(scratch);
}
inline __device__ float* roads_out(void* scratch, int n) {  // [via][to] = d[via][to]
  return static_cast<float*>(scratch) + at(padded_size(n), 0, padded_size(n));
}

__global__ void minplus_prepare(float* r, const float* d, int n, void* scratch) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  float cost = kNoRoad;
  if (row < n && col < n) cost = d[at(row, col, n)];

  const int width = padded_size(n);
  roads_out(scratch, n)[at(row, col, width)] = cost;
  roads_in(scratch)[at(col, row, width)] = cost;
}

inline __device__ LaunchPlan plan_with_copies(int n) {
  const long long width = padded_size(n);
  LaunchPlan plan = plan_with_scratch(2 * width * width * sizeof(float));
  plan.then("minplus_prepare", {{width / 32, width / 8}, {32, 8}});
  return plan;
}

__global__ void minplus_shared_product(float* r, const float* d, int n, void* scratch) {
  const int first_from = blockIdx.y * kTile + threadIdx.y;
  const int first_to = blockIdx.x * kTile + threadIdx.x;
  __shared__ float panel_in[kPanel][kTile];
  __shared__ float panel_out[kPanel][kTile];
  float best[kEach][kEach];
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      best[a][b] = kNoRoad;
    }
  }

  const int width = padded_size(n);
  const float* in = roads_in(scratch);
  const float* out = roads_out(scratch, n);
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  for (int first_via = 0; first_via < n; first_via += kPanel) {
    for (int p = 0; p < kPanel; ++p) {
      panel_in[p][thread] = in[at(first_via + p, blockIdx.y * kTile + thread, width)];
      panel_out[p][thread] = out[at(first_via + p, blockIdx.x * kTile + thread, width)];
    }
    __syncthreads();
    if (thread >= 32) come_late();
#pragma unroll
    for (int p = 0; p < kPanel; ++p) {
      float cost_in[kEach];
      float cost_out[kEach];
      for (int a = 0; a < kEach; ++a) cost_in[a] = panel_in[p][threadIdx.y + a * kThreads];
      for (int b = 0; b < kEach; ++b) cost_out[b] = panel_out[p][threadIdx.x + b * kThreads];
      for (int a = 0; a < kEach; ++a) {
        for (int b = 0; b < kEach; ++b) {
          best[a][b] = fminf(best[a][b], cost_in[a] + cost_out[b]);
        }
      }
    }
  }

  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      const int from = first_from + a * kThreads;
      const int to = first_to + b * kThreads;
      if (from < n && to < n) r[at(from, to, n)] = best[a][b];
    }
  }
}

LAUNCH_PLAN(minplus_shared, int n) {
  LaunchPlan plan = plan_with_copies(n);
  const long long tiles = ceil_div(n, kTile);
  plan.then("minplus_shared_product", {{tiles, tiles}, {kThreads, kThreads}});
  return plan;
}
