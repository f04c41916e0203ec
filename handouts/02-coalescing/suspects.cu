// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 02, "Two suspects": each thread sums the coordinates x, y and z of its points, which are
// stored one after another. n counts coordinates and is a multiple of 3.
//
//     ./membound experiment two-suspects
#include "membound.cuh"

constexpr int kThreads = 256, kBlocksPerSm = 8, kInThreeWalks = 0;

template <int kWalks>
__global__ void suspects(float* out, const float* in, int n) {
  const int threads = gridDim.x * kThreads, thread = blockIdx.x * kThreads + threadIdx.x;
  const int points = n / 3;
  float sum = 0;
  if (kWalks == kInThreeWalks) {
    for (int coordinate = 0; coordinate < 3; ++coordinate)
      for (int point = thread; point < points; point += threads)
        sum += in[3LL * point + coordinate];
  } else {
    for (int point = thread; point < points; point += threads)
      for (int coordinate = 0; coordinate < 3; ++coordinate) sum += in[3LL * point + coordinate];
  }
  if (thread < n) out[thread] = sum;
}

template __global__ void suspects<0>(float*, const float*, int);
template __global__ void suspects<1>(float*, const float*, int);

LAUNCH_SHAPE(suspects, Gpu gpu, int, int) {
  return {.grid = dim3(gpu.sm_count * kBlocksPerSm), .block = dim3(kThreads)};
}
