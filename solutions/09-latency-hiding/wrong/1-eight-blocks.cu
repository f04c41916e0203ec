// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: ReachesItsBar
// Why:   launches 8 blocks, as the K80's first transpose did: most places for a warp stay empty.
#include "kernel.cuh"

__global__ void calibrate_full(float* out, const float* in, long long n, float gain, float offset) {
  for (long long i = number_in_grid(); i < n; i += threads_of_grid()) {
    // The store stands between this load and the next one: a warp has a single load on its way.
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_full, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = 8;
  return shape;
}
