// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// lets a library do the work
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  using Load = cub::BlockLoad<int, kThreads, 1, cub::BLOCK_LOAD_TRANSPOSE>;
  __shared__ typename Load::TempStorage storage;
  int item[1];
  const long long start = before_this_block(kThreads);
  Load(storage).Load(in + start, item, static_cast<int>(n - start < kThreads ? n - start : kThreads), 0);
  if (i < n) out[n - 1 - i] = item[0];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
