// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: ReachesItsBar
// Why:   each thread takes 8 neighbouring pixels: the lanes of a warp are 24 floats apart in every
//        load, and 8 in every store.
#include "kernel.cuh"

__global__ void planes(float* out, const float* in, int rows, int cols, int pitch) {
  const long long count = static_cast<long long>(rows) * cols;
  const long long first = 8 * (before_this_block(kThreads) + threadIdx.x);

  for (long long pixel = first; pixel < first + 8 && pixel < count; ++pixel) {
    float color[kColors];
    for (int c = 0; c < kColors; ++c) color[c] = in[pixel * kColors + c];
    for (int c = 0; c < kColors; ++c) out[c * count + pixel] = color[c];
  }
}

LAUNCH_SHAPE(planes, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(static_cast<long long>(rows) * cols, 8 * kThreads);
  return shape;
}
