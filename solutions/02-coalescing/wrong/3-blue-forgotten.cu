// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: OnePixel
// Why:   a picture has three planes; two are written.
#include "kernel.cuh"

__global__ void planes(float* out, const float* in, int rows, int cols, int pitch) {
  const long long count = static_cast<long long>(rows) * cols;
  const long long pixel = before_this_block(kThreads) + threadIdx.x;

  if (pixel >= count) return;
  float color[kColors];
  for (int c = 0; c < kColors; ++c) color[c] = in[pixel * kColors + c];
  for (int c = 0; c < kColors - 1; ++c) out[c * count + pixel] = color[c];
}

LAUNCH_SHAPE(planes, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(static_cast<long long>(rows) * cols, kThreads);
  return shape;
}
