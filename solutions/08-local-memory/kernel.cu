// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 08: a table per thread, three times          (handouts/08-local-memory/handout.md)
//
// In each stage every thread goes through one series of samples and keeps eight numbers of its
// own. Registers have no addresses: where can eight numbers be that an index chooses?
// A budget counts what one instruction of one warp may cost: sectors are pieces of 32 bytes of
// global or local memory, wavefronts are passes through shared memory. kernel.cuh has the data, the
// constants, level_of(), at() and series_of_thread().
#include "kernel.cuh"

// Stage 1: A window in registers
//
// Before   On a CPU the last eight samples are in a ring: window[j % 8] = sample. The ring is in
//          memory, and an index costs nothing there.
// Task     Keep the window in registers. Then every index into it has to be a number that the
//          compiler knows.
// Budget   Local memory: nothing. Load 4 sectors per request, store 4.
//
//     sample 9 arrives
//     a ring       [ 8  1  2  3  4  5  6  7 ]   which is the oldest? it depends on j
//     a row        [ 1  2  3  4  5  6  7  8 ]   always the first; move all one place down
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

// Stage 2: An unknown index
//
// Before   All lanes moved their windows alike, so each index was a constant. Now the sample says
//          which of eight numbers is meant, and it differs from lane to lane.
// Task     Remember the last sample of each level. Look up and replace the one that has this
//          sample's level, without an index: test all eight.
// Budget   Local memory: nothing. Load 4 sectors per request, store 4. Eight comparisons a sample.
//
//     level          0     1     2     3     4     5     6     7
//     last        [ 16 | none|  2  | 11  | none| none| 22  | 15 ]
//     sample 19, level 3:      no    yes   no  ...               out: 11, and 19 replaces it
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

// Stage 3: A table in shared memory
//
// Before   Eight comparisons for one number are a cost, and with 64 levels it would be eight
//          times as high. Memory with addresses takes any index at the same cost.
// Task     Count the levels of a series in a table of its own, in shared memory. A block has
//          kThreads tables of kLevels numbers. Where is number `level` of thread t?
// Budget   Local memory: nothing. Load 4 sectors per request. Shared memory: no bank conflict,
//          whatever the levels are.
//
//     bank = word mod 32                             lanes 0, 1, 2, 3, 4 and their level 0
//     a table after the other   8 * t + level        0  8 16 24  0 ...
//     a level after the other   kThreads * level + t ?
__global__ void count_levels(int* out, const int* in, long long n, int m) {
  // Lane t is in bank t mod 32, whatever its level: the lanes of a warp never meet.
  __shared__ int count[kLevels][kThreads];

  const long long series = series_of_thread();
  if (series >= n) return;
  for (int level = 0; level < kLevels; ++level) count[level][threadIdx.x] = 0;

  for (int j = 0; j < m; ++j) {
    const int sample = in[at(j, series, n)];
    // No barrier and no atomic: no other thread accesses this thread's column.
    ++count[level_of(sample)][threadIdx.x];
  }
  for (int level = 0; level < kLevels; ++level) {
    out[at(level, series, n)] = count[level][threadIdx.x];
  }
}

LAUNCH_SHAPE(count_levels, long long n, int m) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
