// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: SeveralWavesOfBlocks
// Why:   caps the grid at 4096 blocks, but no thread takes a second element: all beyond 1,048,576
//        are never written.
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  const long long blocks = ceil_div(n, kThreads);
  shape.block = kThreads;
  shape.grid = blocks < 4096 ? blocks : 4096;
  return shape;
}
