// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: SeveralSweeps
// Why:   each block takes one batch: with a grid of fixed size the end of a long array is never
//        reached.
#include "kernel.cuh"

__global__ void calibrate_few(float* out, const float* in, long long n, float gain, float offset) {
  constexpr int kBatch = kManyLoads * kThreads;
  const long long batches = n / kBatch;
  const long long rest = batches * kBatch;

  const long long batch = blockIdx.x;
  if (batch < batches) {
    const long long first = batch * kBatch + threadIdx.x;
    float sample[kManyLoads];
#pragma unroll
    for (int k = 0; k < kManyLoads; ++k) sample[k] = in[first + k * kThreads];
#pragma unroll
    for (int k = 0; k < kManyLoads; ++k) out[first + k * kThreads] = gain * sample[k] + offset;
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
