// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 4
// Fails: SeveralRowsInStep
// Why:   divides without rounding up: the pixels of the last block, if it is not full, are never
//        written.
#include "kernel.cuh"

struct alignas(16) Pixel {
  float r, g, b, a;
};

__global__ void premultiply(float* out, const float* in, int rows, int cols, int pitch) {
  const long long pixel = before_this_block(kThreads) + threadIdx.x;
  if (pixel < static_cast<long long>(rows) * cols) {
    Pixel value = reinterpret_cast<const Pixel*>(in)[pixel];
    value.r *= value.a;
    value.g *= value.a;
    value.b *= value.a;
    reinterpret_cast<Pixel*>(out)[pixel] = value;
  }
}

LAUNCH_SHAPE(premultiply, int rows, int cols, int pitch) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = rows == 0 || cols == 0 ? 0
                                      : static_cast<long long>(rows) * cols / kThreads +
                                            (static_cast<long long>(rows) * cols < kThreads);
  return shape;
}
