// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 10, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` holds n whole numbers; it starts at a multiple of 256 bytes and is not changed.
///          A row is 32 numbers whose first index is a multiple of 32; the last row may be cut off.
///          A number is kept if it is smaller than k.
/// Results  Stage 1: out[r] is how many numbers of row r are kept.
///          Stage 2: out[i] is how many numbers before number i in its row equal it; -1 for a
///          number that is not kept.
///          Stage 3: out[0] is how many numbers are kept; it starts at 0. The kept numbers follow
///          from out[kHead] on, without gaps, in any order. Everything else stays as it was.
///          Stage 4: numbers l and l + 16 of a row, of its halves, are a pair: k times the first
///          is increased by the second, and then the second by the first. For a partner that does
///          not exist take one that starts at 0 and changes like every other.
///          Stage 5: out[i] = k * in[i] - total, where total is the sum of all n numbers.
///          In stages 4 and 5 all results fit an int.
/// Sizes    0 <= n <= 2^33, any value; stages 3 and 5: n < 2^31. 0 <= k.
/// Kernels  `__global__ void <stage>(int* out, const int* in, long long n, int k)`
/// Launch   `LAUNCH_SHAPE(<stage>, long long n, int k)`; stage 5: `LAUNCH_SHAPE(<stage>, Gpu gpu,
///          long long n, int k)`; `gpu.sm_count` is the number of multiprocessors. With
///          `.cooperative = true` all blocks of the grid run at the same time, and a grid that is
///          too large for that is refused.
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kWarpLanes = 32;                ///< lanes of a warp, numbers of a row
inline constexpr unsigned kAllLanes = 0xffffffffu;   ///< the mask of all lanes of a warp
inline constexpr unsigned kLowerHalf = 0x0000ffffu;  ///< lanes 0 to 15
inline constexpr unsigned kUpperHalf = 0xffff0000u;  ///< lanes 16 to 31
inline constexpr int kHalf = kWarpLanes / 2;
inline constexpr int kThreads = 256;  ///< threads of a block
inline constexpr int kWarps = kThreads / kWarpLanes;
inline constexpr int kRows = 4;           ///< stages 1 and 2: rows that a warp takes
inline constexpr int kHead = 32;          ///< stage 3: index of the first kept number
inline constexpr int kEach = 16;          ///< stage 3: numbers a thread takes
inline constexpr int kMostBlocks = 4096;  ///< stage 5: more than any GPU runs at the same time

/// The index of this thread's first number where each thread takes `each` of them: its next ones
/// are kThreads further on, so that a warp always takes a whole row.
__device__ inline long long first_number(int each) {
  return static_cast<long long>(blockIdx.x) * each * kThreads + threadIdx.x;
}
/// This thread's lane in its warp, and its warp in its block.
__device__ inline int lane() { return threadIdx.x % kWarpLanes; }
__device__ inline int warp() { return threadIdx.x / kWarpLanes; }
/// The mask of all lanes before this one.
__device__ inline unsigned lanes_before() { return (1u << lane()) - 1; }
