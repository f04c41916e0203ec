// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a macro of 100 million tokens
#define A0 x+x+x+x+x+x+x+x+x+x
#define A1 A0+A0+A0+A0+A0+A0+A0+A0+A0+A0
#define A2 A1+A1+A1+A1+A1+A1+A1+A1+A1+A1
#define A3 A2+A2+A2+A2+A2+A2+A2+A2+A2+A2
#define A4 A3+A3+A3+A3+A3+A3+A3+A3+A3+A3
#define A5 A4+A4+A4+A4+A4+A4+A4+A4+A4+A4
#define A6 A5+A5+A5+A5+A5+A5+A5+A5+A5+A5
#define A7 A6+A6+A6+A6+A6+A6+A6+A6+A6+A6
__device__ int bomb(int x) { return A7; }
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
