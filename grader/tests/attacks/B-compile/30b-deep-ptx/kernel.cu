// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// a scope nested 50,000 deep
#define P1 "{"
#define P2 P1 P1 P1 P1 P1 P1 P1 P1 P1 P1
#define P3 P2 P2 P2 P2 P2 P2 P2 P2 P2 P2
#define P4 P3 P3 P3 P3 P3 P3 P3 P3 P3 P3
#define P5 P4 P4 P4 P4 P4 P4 P4 P4 P4 P4
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  asm volatile(P5 P5 P5 P5 P5);
  (void)i; (void)out; (void)in;
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
