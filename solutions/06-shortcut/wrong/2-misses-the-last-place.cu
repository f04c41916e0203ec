// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: RoadsThatGoBothWays
// Why:   stops before the last place: shortcuts by way of it are not found.
#include "kernel.cuh"

__global__ void minplus_coalesced(float* r, const float* d, int n) {
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  const int to = blockIdx.x * blockDim.x + threadIdx.x;

  if (from >= n || to >= n) return;
  float best = kNoRoad;
  for (int via = 0; via < n - 1; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

LAUNCH_SHAPE(minplus_coalesced, int n) {
  LaunchShape shape;
  shape.block = {kBlock, kBlock};
  shape.grid = {ceil_div(n, kBlock), ceil_div(n, kBlock)};
  return shape;
}
