// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: CalibratesOneBatch
// Finds: out of bounds read in `sample[k] = in[first + k * kThreads];`
// Why:   counts batches of stage 2's size, but loads 16 samples a thread: the last ones stand
// behind
//        the end.
#include "kernel.cuh"

__global__ void calibrate_few(float* out, const float* in, long long n, float gain, float offset) {
  constexpr int kBatch = kLoads * kThreads;
  const long long batches = n / kBatch;
  const long long rest = batches * kBatch;

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
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
