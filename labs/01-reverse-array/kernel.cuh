// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 01, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `in` holds n ints. `out` receives them in the opposite order: element i of `in` becomes
///          element n - 1 - i of `out`. The two never overlap; both start at a multiple of 256
///          bytes.
/// Sizes    0 <= n <= 2^34, any value: 0, 1, primes. Positions are therefore 64 bits wide.
/// Kernels  `__global__ void <stage>(int* out, const int* in, long long n)`
/// Launch   `LAUNCH_SHAPE(<stage>, long long n)`; for n = 0 nothing is launched.
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 256;   ///< threads of a block, in every stage
inline constexpr int kVectorInts = 4;  ///< stage 3: ints in a vector of 16 bytes
