// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: NoSamples
// Why:   writes the table after every sample, and so never where there is none.
#include "kernel.cuh"

__global__ void count_levels(int* out, const int* in, long long n, int m) {
  __shared__ int count[kLevels][kThreads];

  const long long series = series_of_thread();
  if (series >= n) return;
  for (int level = 0; level < kLevels; ++level) count[level][threadIdx.x] = 0;

  for (int j = 0; j < m; ++j) {
    const int level = level_of(in[at(j, series, n)]);
    ++count[level][threadIdx.x];
    for (int row = 0; row < kLevels; ++row) out[at(row, series, n)] = count[row][threadIdx.x];
  }
}

LAUNCH_SHAPE(count_levels, long long n, int m) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
