// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: ReachesItsBar
// Why:   one thread for a whole row of results: n threads, where there could be n * n.
#include "kernel.cuh"

__global__ void minplus_direct(float* r, const float* d, int n) {
  const int from = blockIdx.x * blockDim.x + threadIdx.x;
  if (from >= n) return;
  for (int to = 0; to < n; ++to) {
    float best = kNoRoad;
    for (int via = 0; via < n; ++via) {
      best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
    }
    r[at(from, to, n)] = best;
  }
}

LAUNCH_SHAPE(minplus_direct, int n) {
  LaunchShape shape;
  shape.block = 128;
  shape.grid = ceil_div(n, 128);
  return shape;
}
