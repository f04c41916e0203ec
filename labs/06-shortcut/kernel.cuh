// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 06, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `d` holds n x n floats, row after row: d[from][to] is the cost of the road between two
///          places, +infinity where there is none. No NaN, no -infinity. `d` is not changed.
///          r[from][to] has to become the least d[from][via] + d[via][to] over all `via`.
///          The two never overlap; both start at a multiple of 256 bytes.
/// Sizes    0 <= n <= 40,000, any value: 0, 1, primes.
/// Kernels  `__global__ void <stage>(float* r, const float* d, int n)`
///          A kernel of a LAUNCH_PLAN has one more parameter at the end: void* scratch.
/// Launch   `LAUNCH_SHAPE(<stage>, int n)`; stages 3 to 6: `LAUNCH_PLAN(<stage>, int n)`
///          For n = 0 nothing is launched.
#pragma once

#include "membound.cuh"

using membound::LaunchPlan;
using membound::LaunchShape;

inline constexpr int kBlock = 16;   ///< stages 1 and 2: a block is kBlock x kBlock threads
inline constexpr int kThreads = 8;  ///< stages 3 and 4: a block is kThreads x kThreads threads
inline constexpr int kEach = 8;     ///< stages 3 to 5: a thread has kEach x kEach results
inline constexpr int kTile = kThreads * kEach;  ///< ... and so a block has kTile x kTile
inline constexpr int kPanel = 4;  ///< stage 4: places `via` that shared memory holds at a time

inline constexpr int kWideThreads = 256;  ///< stage 5: threads of a block
inline constexpr int kWideTile = 128;     ///< stage 5: a block has kWideTile x kWideTile results
inline constexpr int kWideHalf = kWideTile / 2;  ///< ... from a group of four to the next
inline constexpr int kWidePanel = 8;  ///< stage 5: places `via` that shared memory holds at a time

/// "There is no road": the cost that every other cost is less than.
inline constexpr float kNoRoad = __builtin_huge_valf();

/// Position of element (row, col) in a matrix that is `width` elements wide.
__host__ __device__ constexpr long long at(int row, int col, int width) {
  return static_cast<long long>(row) * width + col;
}

/// The smallest multiple of kTile that is not below n.
__host__ __device__ constexpr int padded_size(int n) { return ceil_div(n, kTile) * kTile; }

/// The smallest multiple of kWideTile that is not below n.
__host__ __device__ constexpr int wide_size(int n) { return ceil_div(n, kWideTile) * kWideTile; }
