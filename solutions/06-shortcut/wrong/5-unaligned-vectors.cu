// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 5
// Fails: RunsWithoutFault
// Finds: out of bounds read in `const float4 four = *reinterpret_cast<const`
// Why:   reads `d` in vectors of 16 bytes, but only every fourth row of it starts at a multiple of
//        16 bytes unless n is a multiple of 4.
#include "kernel.cuh"

inline constexpr int kFastTile = 128;    // a block has kFastTile x kFastTile results
inline constexpr int kFastPanel = 8;     // places in a panel
inline constexpr int kFastThreads = 16;  // a block is kFastThreads x kFastThreads threads

inline __device__ int fast_width(int n) { return ceil_div(n, kFastTile) * kFastTile; }

__global__ void minplus_fast_prepare(float* r, const float* d, int n, void* scratch) {
  __shared__ float tile[32][33];
  const int width = fast_width(n);
  float* in = static_cast<float*>(scratch);
  float* out = in + at(width, 0, width);
  const int col = blockIdx.x * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int row = blockIdx.y * 32 + y;
    float cost = kNoRoad;
    if (row < n && col < n) {
      const float4 four = *reinterpret_cast<const float4*>(&d[at(row, col / 4 * 4, n)]);
      const float costs[4] = {four.x, four.y, four.z, four.w};
      cost = costs[col % 4];
    }
    out[at(row, col, width)] = cost;
    tile[y][threadIdx.x] = cost;
  }
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += 8) {
    in[at(blockIdx.x * 32 + y, blockIdx.y * 32 + threadIdx.x, width)] = tile[threadIdx.x][y];
  }
}

__global__ void minplus_fast_product(float* r, const float* d, int n, void* scratch) {
  __shared__ __align__(16) float panel_in[2][kFastPanel][kFastTile];
  __shared__ __align__(16) float panel_out[2][kFastPanel][kFastTile];
  const int width = fast_width(n);
  const int thread = threadIdx.y * kFastThreads + threadIdx.x;

  const int fetch_row = thread / 32;
  const int fetch_col = thread % 32 * 4;
  const float* copies = static_cast<const float*>(scratch);
  const float* in = copies + at(fetch_row, blockIdx.y * kFastTile + fetch_col, width);
  const float* out = copies + at(width + fetch_row, blockIdx.x * kFastTile + fetch_col, width);
  const long long panel_step = at(kFastPanel, 0, width);

  float best[8][8];
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) best[a][b] = kNoRoad;
  }

  *reinterpret_cast<float4*>(&panel_in[0][fetch_row][fetch_col]) =
      *reinterpret_cast<const float4*>(in);
  *reinterpret_cast<float4*>(&panel_out[0][fetch_row][fetch_col]) =
      *reinterpret_cast<const float4*>(out);
  __syncthreads();

  const int panels = ceil_div(n, kFastPanel);
  for (int panel = 0; panel < panels; ++panel) {
    const int now = panel % 2;
    float4 next_in;
    float4 next_out;
    if (panel + 1 < panels) {
      next_in = *reinterpret_cast<const float4*>(in + (panel + 1) * panel_step);
      next_out = *reinterpret_cast<const float4*>(out + (panel + 1) * panel_step);
    }
#pragma unroll
    for (int p = 0; p < kFastPanel; ++p) {
      float cost_in[8];
      float cost_out[8];
      for (int half = 0; half < 2; ++half) {
        const float4 four_in = *reinterpret_cast<const float4*>(
            &panel_in[now][p][half * kFastTile / 2 + threadIdx.y * 4]);
        const float4 four_out = *reinterpret_cast<const float4*>(
            &panel_out[now][p][half * kFastTile / 2 + threadIdx.x * 4]);
        cost_in[half * 4 + 0] = four_in.x;
        cost_in[half * 4 + 1] = four_in.y;
        cost_in[half * 4 + 2] = four_in.z;
        cost_in[half * 4 + 3] = four_in.w;
        cost_out[half * 4 + 0] = four_out.x;
        cost_out[half * 4 + 1] = four_out.y;
        cost_out[half * 4 + 2] = four_out.z;
        cost_out[half * 4 + 3] = four_out.w;
      }
      for (int a = 0; a < 8; ++a) {
        for (int b = 0; b < 8; ++b) best[a][b] = fminf(best[a][b], cost_in[a] + cost_out[b]);
      }
    }
    if (panel + 1 < panels) {
      *reinterpret_cast<float4*>(&panel_in[1 - now][fetch_row][fetch_col]) = next_in;
      *reinterpret_cast<float4*>(&panel_out[1 - now][fetch_row][fetch_col]) = next_out;
    }
    __syncthreads();
  }

  for (int a = 0; a < 8; ++a) {
    const int from = blockIdx.y * kFastTile + a / 4 * kFastTile / 2 + threadIdx.y * 4 + a % 4;
    for (int b = 0; b < 8; ++b) {
      const int to = blockIdx.x * kFastTile + b / 4 * kFastTile / 2 + threadIdx.x * 4 + b % 4;
      if (from < n && to < n) r[at(from, to, n)] = best[a][b];
    }
  }
}

LAUNCH_PLAN(minplus_fast, int n) {
  LaunchPlan plan = plan_with_scratch(0);
  const long long width = fast_width(n);
  const long long tiles = width / kFastTile;
  plan.scratch_bytes = 2 * width * width * sizeof(float);
  plan.then("minplus_fast_prepare", {{width / 32, width / 32}, {32, 8}});
  plan.then("minplus_fast_product", {{tiles, tiles}, {kFastThreads, kFastThreads}});
  return plan;
}
