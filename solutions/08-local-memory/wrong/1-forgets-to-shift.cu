// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: OneSeries
// Why:   overwrites the newest sample every time: the window never holds more than one.
#include "kernel.cuh"

__global__ void window_maximum(int* out, const int* in, long long n, int m) {
  const long long series = series_of_thread();
  if (series >= n) return;
  int window[kWindow] = {};  // Given: zeros come before the first sample.

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    window[kWindow - 1] = sample;

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
