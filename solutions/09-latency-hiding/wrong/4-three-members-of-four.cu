// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 4
// Fails: CalibratesOneBatch
// Why:   calibrates x, y and z of every vector and forgets w.
#include "kernel.cuh"

__global__ void calibrate_predicted(float* out, const float* in, long long n, float gain,
                                    float offset) {
  const int batch_vectors = kVectors * blockDim.x;
  const long long batches = n / kVectorFloats / batch_vectors;
  const long long rest = batches * batch_vectors * kVectorFloats;
  const float4* const in_vectors = reinterpret_cast<const float4*>(in);
  float4* const out_vectors = reinterpret_cast<float4*>(out);

  for (long long batch = blockIdx.x; batch < batches; batch += gridDim.x) {
    const long long first = batch * batch_vectors + threadIdx.x;
    float4 sample[kVectors];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) sample[k] = in_vectors[first + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < kVectors; ++k) {
      out_vectors[first + k * blockDim.x] = {gain * sample[k].x + offset,
                                             gain * sample[k].y + offset,
                                             gain * sample[k].z + offset, sample[k].w};
    }
  }
  for (long long i = rest + number_in_grid(); i < n; i += threads_of_grid()) {
    out[i] = gain * in[i] + offset;
  }
}

LAUNCH_SHAPE(calibrate_predicted, long long n) {
  LaunchShape shape;
  constexpr int kPredicted = 384;
  shape.block = kPredicted;
  shape.grid = gpu.sm_count;
  return shape;
}
