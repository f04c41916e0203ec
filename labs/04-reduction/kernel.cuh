// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 04, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` holds n floats, without gaps; it starts at a multiple of 256 bytes and is not
///          changed. `sum` is one float that has to become in[0] + in[1] + ... + in[n - 1]; the
///          order of the additions is free. The sum of no elements is 0.
/// Before   Stages 1 to 4: *sum is 0, and the kernel adds to it.
///          Stages 5 and 6: *sum is uninitialised, and the stage has to set it.
/// Sizes    Stages 1 to 6: 0 <= n <= 2^33, any value: 0, 1, primes.
/// Kernels  `__global__ void <stage>(float* sum, const float* in, long long n)`
///          A kernel of a LAUNCH_PLAN has one more parameter at the end: void* scratch.
/// Launch   `LAUNCH_SHAPE(<stage>, long long n)`;
///          stages 5 and 6: `LAUNCH_PLAN(<stage>, long long n)`
///          For an empty array a LAUNCH_SHAPE with an empty grid launches nothing.
/// Program  Stage 7 reads the inputs "in" (n floats, n < 2^31) and "threads" (of a block: one int,
///          a power of 2 up to 1,024), and writes the output "sums" (a float for each block of
///          so many elements, of which the last may have fewer) (program.hpp).
#pragma once

#include "membound.cuh"

using membound::LaunchPlan;
using membound::LaunchShape;

inline constexpr int kWarpLanes = 32;               ///< lanes of a warp
inline constexpr unsigned kAllLanes = 0xffffffffu;  ///< the mask of a shuffle of all 32 lanes
inline constexpr int kThreads = 256;                ///< threads of a block: 8 warps, a power of 2
