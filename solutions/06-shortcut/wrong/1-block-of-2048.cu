// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: LaunchesWithinLimits
// Why:   asks for 64 x 32 threads in a block; a block has 1024 at most.
#include "kernel.cuh"

__global__ void minplus_direct(float* r, const float* d, int n) {
  const int from = blockIdx.x * blockDim.x + threadIdx.x;
  const int to = blockIdx.y * blockDim.y + threadIdx.y;
  if (from >= n || to >= n) return;

  float best = kNoRoad;

  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

LAUNCH_SHAPE(minplus_direct, int n) {
  LaunchShape shape;
  shape.block = {64, 32};
  shape.grid = {ceil_div(n, 64), ceil_div(n, 32)};
  return shape;
}
