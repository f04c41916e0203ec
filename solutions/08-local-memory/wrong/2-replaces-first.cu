// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: OneSampleOfOneSeries
// Why:   puts the new sample in before it looks, and finds itself.
#include "kernel.cuh"

__global__ void previous_of_level(int* out, const int* in, long long n, int m) {
  const long long series = series_of_thread();
  if (series >= n) return;
  int last[kLevels] = {};

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    const int level = level_of(sample);
    int previous = 0;
#pragma unroll
    for (int k = 0; k < kLevels; ++k) {
      last[k] = k == level ? sample : last[k];
      previous = k == level ? last[k] : previous;
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
