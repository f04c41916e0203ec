// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: TheRoadBackCostsMore
// Why:   stores the result of from -> to where that of to -> from belongs: right only while roads
//        cost the same both ways.
#include "kernel.cuh"

__global__ void minplus_direct(float* r, const float* d, int n) {
  const int from = blockIdx.x * blockDim.x + threadIdx.x;
  const int to = blockIdx.y * blockDim.y + threadIdx.y;
  if (from >= n || to >= n) return;

  float best = kNoRoad;

  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(to, from, n)] = best;
}

LAUNCH_SHAPE(minplus_direct, int n) {
  LaunchShape shape;
  shape.block = {kBlock, kBlock};
  shape.grid = {ceil_div(n, kBlock), ceil_div(n, kBlock)};
  return shape;
}
