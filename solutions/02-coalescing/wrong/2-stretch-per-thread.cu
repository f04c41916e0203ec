// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: ReachesItsBar
// Why:   each thread takes kEach neighbours, so that it has most left neighbours already; the lanes
//        of a warp are kEach pixels apart.
#include "kernel.cuh"

__global__ void edges(float* out, const float* in, int rows, int cols, int pitch) {
  const long long start = at(blockIdx.y, 0, pitch);
  const int skip = static_cast<int>(start % kLineFloats);

  const int first = blockIdx.x * kThreads * kEach + kEach * threadIdx.x - skip;

  float here[kEach], left[kEach];
  for (int k = 0; k < kEach; ++k) {
    const int col = first + k;
    if (col >= 0 && col < cols) here[k] = in[start + col];
    left[k] = col > 0 && col < cols ? in[start + col - 1] : 0.0f;
  }

  for (int k = 0; k < kEach; ++k) {
    const int col = first + k;
    if (col >= 0 && col < cols) out[start + col] = here[k] - left[k];
  }
}

LAUNCH_SHAPE(edges, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = {ceil_div(cols + kLineFloats - 1, kThreads * kEach), rows};
  return shape;
}
