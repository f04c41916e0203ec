// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: FinishesInTime
// Why:   each thread waits until its result has been written before it writes it.
#include "kernel.cuh"

__global__ void minplus_coalesced(float* r, const float* d, int n) {
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  const int to = blockIdx.x * blockDim.x + threadIdx.x;

  if (from >= n || to >= n) return;
  float best = kNoRoad;
  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  volatile float* result = r + at(from, to, n);
  while (*result != *result) {
  }
  *result = best;
}

LAUNCH_SHAPE(minplus_coalesced, int n) {
  LaunchShape shape;
  shape.block = {kBlock, kBlock};
  shape.grid = {ceil_div(n, kBlock), ceil_div(n, kBlock)};
  return shape;
}
