// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: SeveralSweeps
// Why:   every thread takes one sample and stops: right as long as the grid covers the array.
#include "kernel.cuh"

__global__ void calibrate_full(float* out, const float* in, long long n, float gain, float offset) {
  const long long i = number_in_grid();
  if (i < n) {
    // The store stands between this load and the next one: a warp has a single load on its way.
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_full, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count * (gpu.max_threads_per_sm / kThreads);
  return shape;
}
