// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 08, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` holds n series of m samples each, side by side: row j has sample j of every
///          series. `out` has n columns, too, one for each series:
///          stage 1   m rows: the largest of the last kWindow samples, this one included
///          stage 2   m rows: the sample of the same level that came before this one, else 0
///          stage 3   kLevels rows: how many samples of the series have this level
///          If stage 1 reaches back beyond the first sample, it finds zeros.
///          The two arrays never overlap; both start at a multiple of 256 bytes.
/// Sizes    0 <= n <= 2^28, 0 <= m <= 2^20, any values: 0, 1, primes.
/// Kernels  `__global__ void <stage>(int* out, const int* in, long long n, int m)`
/// Launch   `LAUNCH_SHAPE(<stage>, long long n, int m)`; an empty grid launches nothing.
/// Local    No stage may use local memory; stage 3 may not have bank conflicts. Both are counted.
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 256;  ///< threads of a block, in every stage
inline constexpr int kWindow = 8;     ///< stage 1: samples that a window holds
inline constexpr int kLevels = 8;     ///< stages 2 and 3: levels, 0 to 7

/// The level of a sample: its last three bits, also where it is negative.
__host__ __device__ constexpr int level_of(int sample) { return sample & (kLevels - 1); }

/// Position of a series' element in row `row`, where a row has n elements.
__host__ __device__ constexpr long long at(int row, long long series, long long n) {
  return row * n + series;
}

/// The series of this thread, counted over all blocks; may be n or more.
__device__ inline long long series_of_thread() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
