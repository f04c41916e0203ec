// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: ReversesOneBlock
// Finds: data race in `if (place < count) piece[count - 1 - place] = in[start +`
// Why:   nobody waits: the first warp fetches what the last warp has not stored yet.
#include "kernel.cuh"

__global__ void reverse_shared(int* out, const int* in, long long n) {
  extern __shared__ int piece[];
  const long long start = before_this_block(kThreads);
  const int count = static_cast<int>(n - start < kThreads ? n - start : kThreads);
  const int place = threadIdx.x;
  if (place < count) piece[count - 1 - place] = in[start + place];
  const long long out_start = n - start - count;
  if (place < count) out[out_start + place] = piece[place];
}

LAUNCH_SHAPE(reverse_shared, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  shape.shared_bytes = kThreads * sizeof(int);
  return shape;
}
