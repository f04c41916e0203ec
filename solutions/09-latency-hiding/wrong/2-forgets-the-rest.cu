// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: CalibratesOneSample
// Why:   whole batches only: what fills no batch is never written.
#include "kernel.cuh"

__global__ void calibrate_several(float* out, const float* in, long long n, float gain,
                                  float offset) {
  // Given: whole batches come first, without a question in between; `rest` is where they end.
  constexpr int kBatch = kLoads * kThreads;
  const long long batches = n / kBatch;
  const long long rest = batches * kBatch;

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
    const long long first = batch * kBatch + threadIdx.x;
    float sample[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sample[k] = in[first + k * kThreads];

    float* const to = out + first;  // for all that the compiler knows, part of what is to be loaded
#pragma unroll
    for (int k = 0; k < kLoads; ++k) to[k * kThreads] = gain * sample[k] + offset;
  }
}

LAUNCH_SHAPE(calibrate_several, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = gpu.sm_count * (gpu.max_threads_per_sm / kThreads);
  return shape;
}
