// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// swaps event handles in the heap
#include "kernel.cuh"
#include <cstdio>
#include <cstdlib>
#include <cstring>
static cudaEvent_t events[2];
static int once = cudaEventCreate(events) + cudaEventCreate(events + 1);

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  (void)i; (void)out; (void)in;
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
