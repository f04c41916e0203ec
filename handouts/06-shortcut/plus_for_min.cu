// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 06, "Are we happy now?": the kernel of stage 4, once with min and once with + in its place.
// The result of the second is of no use; its time tells what the minima cost. n is a multiple of
// 64: no guards, as inside of the lab's padding.
//
//     ./membound experiment plus-for-min
#include "membound.cuh"

constexpr int kThreads = 8, kEach = 8, kTile = kThreads * kEach, kPanel = 4;
constexpr int kMin = 0;

template <int kOperation>
__device__ float combine(float best, float cost) {
  return kOperation == kMin ? fminf(best, cost) : best + cost;
}

template <int kOperation>
__global__ void product(float* r, const float* d, int n) {
  __shared__ float panel_in[kPanel][kTile];
  __shared__ float panel_out[kPanel][kTile];
  float best[kEach][kEach] = {};
  const int thread = threadIdx.y * kThreads + threadIdx.x;
  for (int first_via = 0; first_via < n; first_via += kPanel) {
    for (int p = 0; p < kPanel; ++p) {
      const long long row = static_cast<long long>(first_via + p) * n;
      panel_in[p][thread] = d[row + blockIdx.y * kTile + thread];
      panel_out[p][thread] = d[row + blockIdx.x * kTile + thread];
    }
    __syncthreads();
#pragma unroll
    for (int p = 0; p < kPanel; ++p) {
      float cost_in[kEach], cost_out[kEach];
      for (int a = 0; a < kEach; ++a) cost_in[a] = panel_in[p][threadIdx.y + a * kThreads];
      for (int b = 0; b < kEach; ++b) cost_out[b] = panel_out[p][threadIdx.x + b * kThreads];
      for (int a = 0; a < kEach; ++a) {
        for (int b = 0; b < kEach; ++b) {
          best[a][b] = combine<kOperation>(best[a][b], cost_in[a] + cost_out[b]);
        }
      }
    }
    __syncthreads();
  }
  for (int a = 0; a < kEach; ++a) {
    for (int b = 0; b < kEach; ++b) {
      const int from = blockIdx.y * kTile + threadIdx.y + a * kThreads;
      const int to = blockIdx.x * kTile + threadIdx.x + b * kThreads;
      r[static_cast<long long>(from) * n + to] = best[a][b];
    }
  }
}

template __global__ void product<0>(float*, const float*, int);
template __global__ void product<1>(float*, const float*, int);

LAUNCH_SHAPE(product, int n, int) {
  return {.grid = dim3(n / kTile, n / kTile), .block = dim3(kThreads, kThreads)};
}
