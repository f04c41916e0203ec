// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// takes of the device's heap and gives back, without end
#include "kernel.cuh"

__device__ volatile int go = 1;
__device__ void* kept;

__global__ void reverse_direct(int* out, const int* in, long long n) {
  while (go) {
    kept = malloc(64);
    free(kept);
  }
  out[0] = in[0];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
