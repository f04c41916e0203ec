// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: EveryKindOfK
// Finds: data race in `samples[s * stride + i] = in[(first + s) * k + i];`
// Why:   33 is a good distance for 32 samples; with more of them the signals overlap.
#include "kernel.cuh"

__global__ void running_sums(int* out, const int* in, int n, int k) {
  extern __shared__ int samples[];

  const int stride = kLanes + 1;

  const long long first = before_this_block(kSignals);
  const int signals = static_cast<int>(n - first < kSignals ? n - first : kSignals);
  const int warp = threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;
  for (int s = warp; s < signals; s += kSignals / kLanes) {
    for (int i = lane; i < k; i += kLanes) samples[s * stride + i] = in[(first + s) * k + i];
  }
  __syncthreads();

  if (threadIdx.x < signals) {
    int sum = 0;
    for (int i = 0; i < k; ++i) {
      sum += samples[threadIdx.x * stride + i];
      samples[threadIdx.x * stride + i] = sum;
    }
  }
  __syncthreads();

  for (int s = warp; s < signals; s += kSignals / kLanes) {
    for (int i = lane; i < k; i += kLanes) out[(first + s) * k + i] = samples[s * stride + i];
  }
}

LAUNCH_SHAPE(running_sums, int n, int k) {
  LaunchShape shape;
  shape.block = kSignals;
  shape.grid = ceil_div(n, kSignals);
  shape.shared_bytes = kSignals * (kLanes + 33) * static_cast<long long>(sizeof(int));
  return shape;
}
