// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: ReachesItsBar
// Why:   looks for the earlier sample in memory, from step to step further back.
#include "kernel.cuh"

__global__ void previous_of_level(int* out, const int* in, long long n, int m) {
  const long long series = series_of_thread();
  if (series >= n) return;

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    const int level = level_of(sample);
    int previous = 0;
    for (int back = j - 1; back >= 0; --back) {
      const int earlier = in[at(back, series, n)];
      if (level_of(earlier) == level) {
        previous = earlier;
        break;
      }
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
