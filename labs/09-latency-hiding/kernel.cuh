// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 09, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` holds n samples. `out` receives them calibrated: out[i] = gain * in[i] + offset.
///          The two never overlap; both start at a multiple of 256 bytes. Samples, gain and offset
///          are whole numbers small enough that nothing is ever rounded.
/// Sizes    0 <= n <= 2^34, any value: 0, 1, primes. Positions are therefore 64 bits wide.
/// Kernels  `__global__ void <stage>(float* out, const float* in, long long n, float gain,
///          float offset)`
/// Launch   `LAUNCH_SHAPE(<stage>, long long n)`; `gpu.sm_count` and `gpu.max_threads_per_sm` tell
///          what the device has, and membound::Gpu has more.
/// Threads  Stages 3 and 4 may launch at most 512 and 384 for each SM; they are counted.
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 256;     ///< stages 1 to 3: threads of a block
inline constexpr int kLoads = 2;         ///< stage 2: loads that a thread has in flight
inline constexpr int kFewPerSm = 512;    ///< stage 3: threads an SM is given, of up to 2,048
inline constexpr int kManyLoads = 16;    ///< stage 3: loads that a thread has in flight
inline constexpr int kVectorFloats = 4;  ///< stage 4: floats in a vector of 16 bytes
inline constexpr int kVectors = 4;       ///< stage 4: vectors that a thread has in flight

/// This thread's number among all threads of the grid.
__device__ inline long long number_in_grid() {
  return static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
}
/// How many threads the grid has.
__device__ inline long long threads_of_grid() {
  return static_cast<long long>(gridDim.x) * blockDim.x;
}
