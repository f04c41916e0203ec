// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: OneSampleOfOneSeries
// Finds: out of bounds read in `const int sample = in[at(j, series, n)];`
// Why:   > lets series n through, which does not exist.
#include "kernel.cuh"

__global__ void window_maximum(int* out, const int* in, long long n, int m) {
  const long long series = series_of_thread();
  if (series > n) return;
  int window[kWindow] = {};  // Given: zeros come before the first sample.

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    constexpr int kNewest = kWindow - 1;
#pragma unroll
    for (int k = 0; k < kNewest; ++k) window[k] = window[k + 1];
    window[kNewest] = sample;

    int largest = window[0];
#pragma unroll
    for (int k = 1; k < kWindow; ++k) largest = max(largest, window[k]);
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
