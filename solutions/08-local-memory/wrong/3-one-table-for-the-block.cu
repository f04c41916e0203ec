// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: OneBlockOfSeries
// Finds: data race in `count[level] = 0;`
// Why:   one table for 256 series: their counts fall into one pot, and overwrite each other.
#include "kernel.cuh"

__global__ void count_levels(int* out, const int* in, long long n, int m) {
  __shared__ int count[kLevels];

  const long long series = series_of_thread();
  if (series >= n) return;
  for (int level = 0; level < kLevels; ++level) count[level] = 0;

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    ++count[level_of(sample)];
  }
  for (int level = 0; level < kLevels; ++level) {
    out[at(level, series, n)] = count[level];
  }
}

LAUNCH_SHAPE(count_levels, long long n, int m) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
