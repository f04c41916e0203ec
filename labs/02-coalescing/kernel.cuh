// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 02, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     A picture has rows x cols pixels, row after row, the left one first; all are floats.
///
///          stage   a pixel of `in`   what `out` receives                        pitch
///          1       grey              1 - grey                                   >= cols
///          2       grey              grey - the grey of the pixel to its left   >= cols
///          3       r, g, b           all r, then all g, then all b              3 * cols
///          4       r, g, b, a        r * a, g * a, b * a, a                     4 * cols
///
///          Left of a row's first pixel everything is 0 (stage 2).
/// Pitch    A row of `in` starts `pitch` floats after the row above it. In stages 1 and 2 a row of
///          `out` does so, too; what lies between the end of a row and the next row (the gap) is
///          not the kernel's to write. Stages 3 and 4 have no gaps.
///          `in` and `out` never overlap; both start at a multiple of 256 bytes.
/// Sizes    0 <= rows <= 65,535, 0 <= cols <= 1,000,000, any values: 0, 1, primes. So the number of
///          pixels and every position are 64 bits wide.
/// Kernels  `__global__ void <stage>(float* out, const float* in, int rows, int cols, int pitch)`
/// Launch   `LAUNCH_SHAPE(<stage>, int rows, int cols, int pitch)`
///          For an empty picture nothing is launched.
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 128;    ///< threads of a block, in every stage
inline constexpr int kEach = 4;         ///< stages 1 and 2: pixels of a thread
inline constexpr int kPair = 2;         ///< stage 3: pixels of a thread
inline constexpr int kLineFloats = 32;  ///< floats in a line of 128 bytes, which is 4 sectors
inline constexpr int kColors = 3;       ///< stage 3: floats of a pixel

/// Position of the float in column `col` of a picture's row `row`.
__host__ __device__ constexpr long long at(int row, int col, int pitch) {
  return static_cast<long long>(row) * pitch + col;
}
