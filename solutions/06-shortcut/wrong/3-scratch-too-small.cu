// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: RoadsThatGoBothWays
// Finds: out of bounds write in `roads_out(scratch, n)[at(row, col, width)] = cost;`
// Why:   asks for one row of scratch less than the two copies need.
#include "kernel.cuh"

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

__global__ void minplus_registers_product(float* r, const float* d, int n, void* scratch) {
  const int first_from = blockIdx.y * kTile + threadIdx.y;
  const int first_to = blockIdx.x * kTile + threadIdx.x;
  float best[kEach][kEach];
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      best[a][b] = kNoRoad;
    }
  }

  const int width = padded_size(n);
  const float* in = roads_in(scratch);
  const float* out = roads_out(scratch, n);
  for (int via = 0; via < n; ++via) {
    float cost_in[kEach];
    float cost_out[kEach];
    for (int a = 0; a < kEach; ++a) cost_in[a] = in[at(via, first_from + a * kThreads, width)];
    for (int b = 0; b < kEach; ++b) cost_out[b] = out[at(via, first_to + b * kThreads, width)];
    for (int a = 0; a < kEach; ++a) {
      for (int b = 0; b < kEach; ++b) {
        best[a][b] = fminf(best[a][b], cost_in[a] + cost_out[b]);
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

inline __device__ LaunchPlan plan_with_copies(int n) {
  const long long width = padded_size(n);
  LaunchPlan plan = plan_with_scratch((2 * width - 1) * width * sizeof(float));
  plan.then("minplus_prepare", {{width / 32, width / 8}, {32, 8}});
  return plan;
}

LAUNCH_PLAN(minplus_registers, int n) {
  LaunchPlan plan = plan_with_copies(n);
  const long long tiles = ceil_div(n, kTile);
  plan.then("minplus_registers_product", {{tiles, tiles}, {kThreads, kThreads}});
  return plan;
}
