// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: ReachesItsBar
// Why:   16 blocks do all pieces in turn: right everywhere, but most multiprocessors have no block.
#include "kernel.cuh"

__global__ void reverse_shared(int* out, const int* in, long long n) {
  extern __shared__ int piece[];
  const int place = threadIdx.x;
  for (long long start = before_this_block(kThreads); start < n; start += 16 * kThreads) {
    const int count = static_cast<int>(n - start < kThreads ? n - start : kThreads);
    if (place < count) piece[count - 1 - place] = in[start + place];
    __syncthreads();
    const long long out_start = n - start - count;
    if (place < count) out[out_start + place] = piece[place];
    __syncthreads();
  }
}

LAUNCH_SHAPE(reverse_shared, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = n == 0 ? 0 : 16;
  shape.shared_bytes = kThreads * sizeof(int);
  return shape;
}
