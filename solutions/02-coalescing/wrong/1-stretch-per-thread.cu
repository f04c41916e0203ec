// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: ReachesItsBar
// Why:   the CPU's habit: each thread takes kEach neighbours, so the lanes of a warp are kEach
//        pixels apart in every load and store.
#include "kernel.cuh"

__global__ void invert(float* out, const float* in, int rows, int cols, int pitch) {
  const int row = blockIdx.y;
  const int first = blockIdx.x * kThreads * kEach + kEach * threadIdx.x;

  float grey[kEach];

  for (int k = 0; k < kEach; ++k) {
    const int col = first + k;
    if (col < cols) grey[k] = in[at(row, col, pitch)];
  }

  for (int k = 0; k < kEach; ++k) {
    const int col = first + k;
    if (col < cols) out[at(row, col, pitch)] = 1.0f - grey[k];
  }
}

LAUNCH_SHAPE(invert, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = {ceil_div(cols, kThreads * kEach), rows};
  return shape;
}
