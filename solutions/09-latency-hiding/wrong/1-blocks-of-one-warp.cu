// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: ReachesItsBar
// Why:   as many threads as the GPU holds, in blocks of 32: an SM holds 32 blocks, and so half of
//        its warps.
#include "kernel.cuh"

__global__ void calibrate_full(float* out, const float* in, long long n, float gain, float offset) {
  for (long long i = number_in_grid(); i < n; i += threads_of_grid()) {
    // The store stands between this load and the next one: a warp has a single load on its way.
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_full, long long n) {
  LaunchShape shape;
  shape.block = 32;
  shape.grid = gpu.sm_count * (gpu.max_threads_per_sm / 32);
  return shape;
}
