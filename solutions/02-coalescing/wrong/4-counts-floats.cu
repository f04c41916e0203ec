// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 4
// Fails: OnePixel
// Finds: out of bounds read in `Pixel value = reinterpret_cast<const Pixel*>(in)[pixel];`
// Why:   guards the pixels with the number of floats, four times as many.
#include "kernel.cuh"

struct alignas(16) Pixel {
  float r, g, b, a;
};

__global__ void premultiply(float* out, const float* in, int rows, int cols, int pitch) {
  const long long pixel = before_this_block(kThreads) + threadIdx.x;
  if (pixel < static_cast<long long>(rows) * pitch) {
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
  shape.grid = ceil_div(static_cast<long long>(rows) * cols, kThreads);
  return shape;
}
