// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Stage 3 of lab 00 as SAXPY, in place: out = alpha * a + out. What the lab's kernel reaches at
/// the work of cublasSaxpy.
#include "kernel.cuh"

inline constexpr float kAlpha = 1.5F;  // as Cublas::axpy

__global__ void add_full(float* out, const float* a, const float*, int n) {
  const int first = kSums * kThreads * blockIdx.x + threadIdx.x;
  float sums[kSums];
  for (int k = 0; k < kSums; ++k) {
    const int sum = first + k * kThreads;
    if (sum < n) sums[k] = kAlpha * a[sum] + out[sum];
  }
  for (int k = 0; k < kSums; ++k) {
    const int sum = first + k * kThreads;
    if (sum < n) out[sum] = sums[k];
  }
}

LAUNCH_SHAPE(add_full, int n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kSums * kThreads);
  return shape;
}
