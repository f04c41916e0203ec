// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 3-slow-one-result-each fails ReachesItsBar
// Why: the answer to stage 2: two loads for every addition and minimum.
#include "kernel.cuh"

__global__ void minplus_registers(float* r, const float* d, int n) {
  const int from = blockIdx.y * blockDim.y + threadIdx.y;
  const int to = blockIdx.x * blockDim.x + threadIdx.x;

  if (from >= n || to >= n) return;
  float best = kNoRoad;
  for (int via = 0; via < n; ++via) {
    best = fminf(best, d[at(from, via, n)] + d[at(via, to, n)]);
  }
  r[at(from, to, n)] = best;
}

LAUNCH_SHAPE(minplus_registers, int n) {
  LaunchShape shape;
  shape.block = dim3(kBlock, kBlock);
  shape.grid = dim3(ceil_div(n, kBlock), ceil_div(n, kBlock));
  return shape;
}
