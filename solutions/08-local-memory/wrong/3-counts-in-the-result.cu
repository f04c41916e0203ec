// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: ReachesItsBar
// Why:   counts where the result will be, in global memory.
#include "kernel.cuh"

__global__ void count_levels(int* out, const int* in, long long n, int m) {
  const long long series = series_of_thread();
  if (series >= n) return;
  for (int level = 0; level < kLevels; ++level) out[at(level, series, n)] = 0;

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    ++out[at(level_of(sample), series, n)];
  }
}

LAUNCH_SHAPE(count_levels, long long n, int m) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
