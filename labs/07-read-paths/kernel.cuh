// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 07, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     One picture, two ways to read it. `in` has its rows, one after the other: the pixel in
///          column x of row y is in[y * width + x]. `picture` is a texture of the same pixels, in a
///          cudaArray: tex2D<float>(picture, x + 0.5f, y + 0.5f). Outside the picture the texture
///          gives the nearest pixel. Pixels are levels, whole numbers from 0 to 255.
///
///          One table, two ways to read it. `table` has kLevels + kCoefficients floats in global
///          memory; `constants`, a variable in constant memory, has the same. All of them are
///          whole numbers from -2 to 2. The first kLevels are a curve, one value for each level;
///          then come coefficients.
///
///          What a stage computes of a pixel, of k and of the table:
///
///          1  out[y * width + x] = c0 + c1 v + c2 v^2 + ..., k coefficients, 1 <= k <= 16, where v
///             is the curve's value at the pixel's level.
///          2  out[y * width + x] = sum of the kTaps x kTaps pixels around (x, y), itself among
///             them; for a pixel outside the picture the nearest one counts. k is 0.
///          3  Each row is cut into segments of k pixels, 1 <= k <= 64, the last one perhaps
///             shorter. out[segment * height + y] = the longest run of neighbouring bright pixels
///             (kBright or more) in this segment of row y.
///          4  out[y * width + x] = sum of kSamples pixels near (x, y): those at
///             sample_near(x, y, s, k) for s = 0, 1, ..., at most k away, 1 <= k <= 64. Outside
///             the picture as in stage 2.
///
///          The arrays never overlap; each starts at a multiple of 256 bytes. All results are whole
///          numbers of less than 24 bits, so nothing is ever rounded.
/// Sizes    0 <= width, height <= 32,768, any value: 0, 1, primes. Every position fits an int.
/// Kernels  `__global__ void <stage>(float* out, const float* in, const float* table,
///          cudaTextureObject_t picture, int width, int height, int k)`
/// Launch   `LAUNCH_SHAPE(<stage>, int width, int height, int k)`; for an empty picture nothing is
///          launched.
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 256;                     ///< stages 1 to 3: threads of a block
inline constexpr int kLevels = 256;                      ///< of a pixel; values of the curve
inline constexpr int kCoefficients = 16;                 ///< in the table, after the curve
inline constexpr int kEach = 8;                          ///< stage 1: pixels of a thread
inline constexpr int kRadius = 5;                        ///< stage 2: pixels on each side
inline constexpr int kTaps = 2 * kRadius + 1;            ///< stage 2: pixels in a row of the box
inline constexpr int kColumns = kThreads - 2 * kRadius;  ///< stage 2: results of a block's row
inline constexpr int kStripRows = 6 * kTaps;             ///< stage 2: rows of a block
inline constexpr int kFetches = 8;     ///< stage 3: pixels that a thread fetches at once
inline constexpr float kBright = 128;  ///< stage 3: a pixel of at least this is bright
inline constexpr int kSamples = 10;    ///< stage 4: of a pixel
inline constexpr int kTile = 16;       ///< stage 4: a block takes a tile of so many by so many

/// The table once more, in constant memory: the grader fills it before each launch.
__constant__ float constants[kLevels + kCoefficients];

/// Stage 4: where sample number `sample` of pixel (x, y) is, before it is moved into the picture.
__device__ inline int2 sample_near(int x, int y, int sample, int k) {
  unsigned int mixed = static_cast<unsigned int>(x) * 73856093u ^
                       static_cast<unsigned int>(y) * 19349663u ^
                       static_cast<unsigned int>(sample) * 83492791u;
  mixed = (mixed ^ mixed >> 13) * 0x5bd1e995u;
  mixed ^= mixed >> 15;
  const unsigned int width = 2u * static_cast<unsigned int>(k) + 1u;
  return {x - k + static_cast<int>((mixed & 0xffffu) * width >> 16),
          y - k + static_cast<int>((mixed >> 16) * width >> 16)};
}
