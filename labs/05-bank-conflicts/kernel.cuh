// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 05, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     What n and k count differs from stage to stage; all lies without gaps.
///
///          1  n signals of k samples, 1 <= k <= 64, signal after signal. In `out` each sample is
///             replaced by the sum of it and all before it in its signal.
///          2  kTableWords words that hold a table of 256 bytes, then n words of data. In `out`
///             each byte b of word i has been replaced k times, 0 <= k <= 16, by
///             table[b ^ (i mod 256)].
///          3  n structs of k words, k = 2 or 3. `out` has one number for each struct: its product
///             with each of the next kWindow structs, member by member, all added up.
///          4  n samples. `out` has as many: each is the sum of k samples, 1 <= k <= 32, the one at
///             its own place and those kDelay, 2 * kDelay, ... later.
///          5  n tiles of k x k words, 1 <= k <= 32, row after row. `out` has 2 * k numbers for
///             each tile: the sums of its rows, then of its columns.
///
///          What lies past the end of `in` counts as 0 (stages 3 and 4). The table of stage 2 has
///          256 bytes, byte b of it first in word b / 4. `in` and `out` never overlap; both start
///          at a multiple of 256 bytes. No sum passes the range of an int.
/// Sizes    0 <= n <= 2^30, any value: 0, 1, primes. Positions are 64 bits wide.
/// Kernels  `__global__ void <stage>(int* out, const int* in, int n, int k)`
/// Launch   `LAUNCH_SHAPE(<stage>, int n, int k)`; for n = 0 nothing is launched.
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kLanes = 32;        ///< of a warp; and banks of shared memory
inline constexpr int kSignals = 128;     ///< stage 1: signals of a block, one thread each
inline constexpr int kThreads = 256;     ///< stages 2 to 4: threads of a block
inline constexpr int kTableWords = 64;   ///< stage 2: the table in front of the data
inline constexpr int kTableBytes = 256;  ///< stage 2: the same in bytes
inline constexpr int kWindow = 32;       ///< stage 3: structs that each one is multiplied with
inline constexpr int kMostWords = 3;     ///< stage 3: words of the largest struct
inline constexpr int kMostEchoes = 32;   ///< stage 4: the largest k
inline constexpr int kDelay = 16;        ///< stage 4: samples from one echo to the next
inline constexpr int kTile = 32;         ///< stage 5: the largest k
inline constexpr int kTileThreads = 64;  ///< stage 5: threads of a block; a block has one tile
