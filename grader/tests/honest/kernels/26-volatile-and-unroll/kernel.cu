// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// pragma unroll, volatile loads, several elements a thread in blocks of four warps
#include "kernel.cuh"

constexpr int kFew = kThreads / 2;

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const volatile int* const source = in;
  const long long first = before_this_block(kThreads) + threadIdx.x;
  int held[2] = {};
  #pragma unroll
  for (int step = 0; step < 2; ++step)
    if (first + step * kFew < n) held[step] = source[first + step * kFew];
  #pragma unroll 2
  for (int step = 0; step < 2; ++step)
    if (first + step * kFew < n) out[n - 1 - (first + step * kFew)] = held[step];
}

LAUNCH_SHAPE(reverse_direct, long long n) { return {.grid = {ceil_div(n, kThreads)}, .block = {kFew}}; }
