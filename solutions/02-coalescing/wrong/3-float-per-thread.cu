// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: ReachesItsBar
// Why:   one thread for each float, straight to its plane: loads are at their ideal, but the 32
//        floats of a warp go to three planes, and most sectors are filled in part.
#include "kernel.cuh"

__global__ void planes(float* out, const float* in, int rows, int cols, int pitch) {
  const long long count = static_cast<long long>(rows) * cols;
  const long long position = before_this_block(kThreads) + threadIdx.x;
  if (position < count * kColors) {
    out[position % kColors * count + position / kColors] = in[position];
  }
}

LAUNCH_SHAPE(planes, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(static_cast<long long>(rows) * cols * kColors, kThreads);
  return shape;
}
