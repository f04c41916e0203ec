// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 1-row-per-thread fails KeepsItsBudget
// On a GPU: ReachesItsBar
// Why: one thread for each row, as with a core for each row: the lanes of a warp are a row apart,
//      and few threads are at work.
#include "kernel.cuh"

__global__ void invert(float* out, const float* in, int rows, int cols, int pitch) {
  const int row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= rows) return;

  for (int col = 0; col < cols; ++col) {
    out[at(row, col, pitch)] = 1.0f - in[at(row, col, pitch)];
  }
}

LAUNCH_SHAPE(invert, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = cols == 0 ? 0 : ceil_div(rows, kThreads);
  return shape;
}
