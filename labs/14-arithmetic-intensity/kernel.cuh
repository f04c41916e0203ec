// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 14, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     C = A * B: `a` has m rows and k columns, `b` has k rows and n columns, `c` has m rows
///          and n columns. c[row][col] becomes the sum of a[row][p] * b[p][col] over all p < k; for
///          k = 0 that is 0. The three arrays never overlap.
/// Layout   Row after row. A row begins a leading dimension after the row above it: lda >= k floats
///          in `a`, ldb >= n in `b`, ldc >= n in `c`. An array holds whole leading dimensions, the
///          last row's too. What lies between the end of a row and the next row (the gap) may be
///          read, holds anything, NaN as well, and is never to be written.
///          All arrays begin at a multiple of 256 bytes.
/// Sizes    0 <= m, n, k <= 65,535; leading dimensions up to 1,000,000; any value: 0, 1, primes. So
///          a position may pass 2^31.
/// Stages   1: n = 1, ldb = ldc = 1: matrix times column. 2: m = 1: row times matrix. 3 to 6: any.
/// Kernels  `__global__ void <stage>(float* c, const float* a, const float* b,
///                                   int m, int n, int k, int lda, int ldb, int ldc)`
/// Launch   `LAUNCH_SHAPE(<stage>, int m, int n, int k, int lda, int ldb, int ldc)`; a `Gpu gpu`
///          before m tells about the device. Where m or n is 0 nothing is launched.
/// Program  Stage 7 reads the inputs "a" (m rows of k floats), "b" (k rows of n), "sizes" (m, n, k
///          as int) and writes the output "c" (m rows of n), all without gaps (program.hpp).
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kWarps = 8;  ///< stage 1: warps of a block, and so its rows

inline constexpr int kQuads = 16;            ///< stage 2: threads side by side, four columns each
inline constexpr int kColumns = 4 * kQuads;  ///< ... and so the columns of a block
inline constexpr int kGroups = 32;           ///< stage 2: rows of `b` that a block reads at a time

inline constexpr int kTile = 32;  ///< stages 3 and 4: columns of a block; stage 4: also rows, depth
inline constexpr int kRows = 8;   ///< stage 3: rows of a block

inline constexpr int kEach = 8;      ///< stages 5 and 6: a thread has kEach x kEach results
inline constexpr int kThreads = 16;  ///< stage 5: a block is kThreads x kThreads threads
inline constexpr int kWideTile = kThreads * kEach;  ///< ... and so a block has 128 x 128 results
inline constexpr int kPanel = 8;  ///< stage 5: columns of `a` and rows of `b` in shared memory

/// Position of element (row, col) where a row begins `leading` elements after the one above it.
__host__ __device__ constexpr long long at(int row, int col, int leading) {
  return static_cast<long long>(row) * leading + col;
}
