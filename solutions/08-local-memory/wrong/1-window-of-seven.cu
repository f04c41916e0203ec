// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: OneSeries
// Why:   leaves the oldest sample out of the search.
#include "kernel.cuh"

__global__ void window_maximum(int* out, const int* in, long long n, int m) {
  const long long series = series_of_thread();
  if (series >= n) return;
  int window[kWindow] = {};  // Given: zeros come before the first sample.

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    constexpr int kNewest = kWindow - 1;
#pragma unroll
    for (int k = 0; k < kNewest; ++k) window[k] = window[k + 1];
    window[kNewest] = sample;

    int largest = window[1];
#pragma unroll
    for (int k = 2; k < kWindow; ++k) largest = max(largest, window[k]);
    out[at(j, series, n)] = largest;
  }
}

// Given, as an example: a thread for every series.
LAUNCH_SHAPE(window_maximum, long long n, int m) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
