// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: ReversesOneBlock
// Why:   turns the piece round inside `in`, which is not its own to change.
#include "kernel.cuh"

__global__ void reverse_shared(int* out, const int* in, long long n) {
  int* const scratch = const_cast<int*>(in);
  const long long start = before_this_block(kThreads);
  const int count = static_cast<int>(n - start < kThreads ? n - start : kThreads);
  const int place = threadIdx.x;
  const int element = place < count ? in[start + place] : 0;
  __syncthreads();
  if (place < count) scratch[start + count - 1 - place] = element;
  __syncthreads();
  const long long out_start = n - start - count;
  if (place < count) out[out_start + place] = scratch[start + place];
}

LAUNCH_SHAPE(reverse_shared, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
