// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: ReachesItsBar
// Why:   stores each sample before it loads the next: the same two loads, one after the other.
#include "kernel.cuh"

__global__ void calibrate_several(float* out, const float* in, long long n, float gain,
                                  float offset) {
  // Given: whole batches come first, without a question in between; `rest` is where they end.
  constexpr int kBatch = kLoads * kThreads;
  const long long batches = n / kBatch;
  const long long rest = batches * kBatch;

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
    const long long first = batch * kBatch + threadIdx.x;

    float* const to = out + first;  // for all that the compiler knows, part of what is to be loaded
#pragma unroll
    for (int k = 0; k < kLoads; ++k) to[k * kThreads] = gain * in[first + k * kThreads] + offset;
  }
  for (long long i = rest + number_in_grid(); i < n; i += threads_of_grid()) {
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_several, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count * (gpu.max_threads_per_sm / kThreads);
  return shape;
}
