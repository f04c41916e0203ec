// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: LaunchesWithinLimits
// Why:   a block of kThreads * kEach threads, 1,024, is the most there may be; with rows of threads
//        as well it is too many.
#include "kernel.cuh"

__global__ void invert(float* out, const float* in, int rows, int cols, int pitch) {
  const int row = blockIdx.y;
  const int first = blockIdx.x * kThreads * kEach + threadIdx.x;

  float grey[kEach];

  for (int k = 0; k < kEach; ++k) {
    const int col = first + k * kThreads;
    if (col < cols) grey[k] = in[at(row, col, pitch)];
  }

  for (int k = 0; k < kEach; ++k) {
    const int col = first + k * kThreads;
    if (col < cols) out[at(row, col, pitch)] = 1.0f - grey[k];
  }
}

LAUNCH_SHAPE(invert, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = {kThreads, 2 * kEach};
  shape.grid = {ceil_div(cols, kThreads * kEach), rows};
  return shape;
}
