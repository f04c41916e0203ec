// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: OnePlace
// Finds: out of bounds read in `best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);`
// Why:   the threads that stick out of the matrix write behind its end.
#include "kernel.cuh"

__global__ void minplus_direct(float* r, const float* d, int n) {
  const int from = blockIdx.x * blockDim.x + threadIdx.x;
  const int to = blockIdx.y * blockDim.y + threadIdx.y;

  float best = kNoRoad;

  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

LAUNCH_SHAPE(minplus_direct, int n) {
  LaunchShape shape;
  shape.block = {kBlock, kBlock};
  shape.grid = {ceil_div(n, kBlock), ceil_div(n, kBlock)};
  return shape;
}
