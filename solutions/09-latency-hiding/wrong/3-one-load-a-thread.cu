// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: ReachesItsBar
// Why:   a quarter of the threads, with one load each: 2 KiB in flight an SM.
#include "kernel.cuh"

__global__ void calibrate_few(float* out, const float* in, long long n, float gain, float offset) {
  constexpr int kBatch = kThreads;
  const long long batches = n / kBatch;
  const long long rest = batches * kBatch;

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
    const long long first = batch * kBatch + threadIdx.x;
    out[first] = gain * in[first] + offset;
  }
  for (long long i = rest + number_in_grid(); i < n; i += threads_of_grid()) {
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_few, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count * (kFewPerSm / kThreads);
  return shape;
}
