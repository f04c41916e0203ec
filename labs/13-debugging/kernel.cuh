// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 13, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` holds n ints, each from -99,999 to 99,999, so that no sum overflows. `out`
///          receives n ints, and holds anything at all before. The two never overlap.
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
inline constexpr int kRow = 1024;     ///< stage 6: elements of a row, and threads of a block

/// The sum of `mine` over the 32 threads of a warp, which each of them gets.
__device__ inline int sum_of_warp(int mine) {
  for (int other = 16; other > 0; other /= 2) mine += __shfl_xor_sync(0xFFFFFFFF, mine, other);
  return mine;
}

/// Given, and right: the sum of `mine` over the kRow threads of a block. All of them must call it,
/// once, and each gets the sum.
__device__ inline int sum_of_block(int mine) {
  __shared__ int sums[kRow / 32];  // of each warp
  mine = sum_of_warp(mine);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = mine;
  // Every thread may assume that the sums of all warps are in shared memory.
  __syncthreads();
  return sum_of_warp(sums[threadIdx.x % 32]);
}
