// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 03, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` is a matrix of rows x cols elements, row after row, without gaps. `out` is its
///          transpose: cols x rows, also row after row. Element (row, col) of `in` becomes element
///          (col, row) of `out`. The two never overlap; both start at a multiple of 256 bytes.
/// Sizes    0 <= rows, cols <= 1,000,000, any values: 0, 1, primes. rows * cols may pass 2^31.
/// Types    Every stage is a template and is graded for float and for double.
/// Kernels  `__global__ void <stage>(T* out, const T* in, int rows, int cols)`
/// Launch   `LAUNCH_SHAPE(<stage>, int rows, int cols, int element_bytes)`
///          element_bytes is sizeof(T): 4 or 8. For an empty matrix nothing is launched.
/// Program  Stage 7 reads the inputs "extents" (rows and cols as int) and "in" (floats), and writes
///          the output "out" (program.hpp).
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 256;  ///< stage 1: threads of a block
inline constexpr int kBlock = 16;     ///< stage 2: a block is kBlock x kBlock threads
inline constexpr int kTile = 32;      ///< stages 3 to 5: a tile is kTile x kTile elements
inline constexpr int kBlockRows = 8;  ///< stage 5: a block is kTile x kBlockRows threads

// [at]
/// Position of element (row, col) in a matrix that is `width` elements wide. 64 bits, because the
/// product passes the largest int once a matrix has more than 2,147,483,647 elements.
__host__ __device__ constexpr long long at(int row, int col, int width) {
  return static_cast<long long>(row) * width + col;
}
// [/at]

/// Makes the two kernels that the grader looks for. A macro, because an explicit instantiation
/// names its template and cannot be written by a function.
#define INSTANTIATE_TRANSPOSE(kernel)                                     \
  template __global__ void kernel<float>(float*, const float*, int, int); \
  template __global__ void kernel<double>(double*, const double*, int, int);
