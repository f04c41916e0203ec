// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: OneBlockOfSeries
// Why:   sample % 8 is negative for a negative sample, which is no level at all.
#include "kernel.cuh"

__global__ void previous_of_level(int* out, const int* in, long long n, int m) {
  const long long series = series_of_thread();
  if (series >= n) return;
  int last[kLevels] = {};

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    const int level = sample % kLevels;
    int previous = 0;
#pragma unroll
    for (int k = 0; k < kLevels; ++k) {
      previous = k == level ? last[k] : previous;
      last[k] = k == level ? sample : last[k];
    }
    out[at(j, series, n)] = previous;
  }
}

LAUNCH_SHAPE(previous_of_level, long long n, int m) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
