// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Lab 00, the contract between kernel.cu and the grader. Read it, never edit it: the grader uses
/// its own copy.
///
/// Data     `a` and `b` hold n numbers each. `out` receives their sums: out[i] = a[i] + b[i].
///          The three arrays never overlap.
/// Sizes    0 <= n <= 2^29, any value: 0, 1, primes.
/// Kernels  `__global__ void <stage>(float* out, const float* a, const float* b, int n)`
/// Launch   `LAUNCH_SHAPE(<stage>, int n)` says how many blocks of how many threads; a `Gpu gpu`
///          before n tells about the device.
/// Program  stage 4: reads the inputs "a" and "b", writes the output "out" (program.hpp).
#pragma once

#include "membound.cuh"

using membound::LaunchShape;

inline constexpr int kThreads = 256;  ///< of a block, in stages 1 and 2
inline constexpr int kSums = 4;       ///< stage 3: of a thread
