// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 13, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` holds n ints, each from -99,999 to 99,999, so that no sum overflows. `out`
/// receives
///          n ints, and holds anything at all before. The two never overlap.
/// Sizes    0 <= n <= 2^30, any value: 0, 1, primes.
/// Kernels  `__global__ void <stage>(int* out, const int* in, int n)`
/// Launch   `LAUNCH_SHAPE(<stage>, int n)`; for n = 0 nothing is launched.
/// Program  stage 5: reads the input "a", ints from -9,999 to 9,999, and writes the output "out"
///          (program.hpp).
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 256;  ///< threads of a block, in stages 1 to 5
inline constexpr int kWindow = 8;     ///< stage 4: elements of a sum
inline constexpr int kRow = 512;      ///< stage 6: elements of a row, and threads of a block

/// Given, and right: the sum of `mine` over the kRow threads of a block. All of them must call it,
/// once, and each gets the sum.
__device__ inline int sum_of_block(int mine) {
  __shared__ int sums[kRow];
  sums[threadIdx.x] = mine;
  for (unsigned half = kRow / 2; half > 0; half /= 2) {
    // Every thread may assume that the sums of the round before are in shared memory.
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  // Thread 0 has written the last sum.
  __syncthreads();
  return sums[0];
}
