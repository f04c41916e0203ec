// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: OneElement
// Finds: data race in `table[threadIdx.x] = reinterpret_cast`
// Why:   looks up entries that other warps have not brought yet.
#include "kernel.cuh"

__global__ void look_up(int* out, const int* in, int n, int k) {
  __shared__ unsigned char table[kTableBytes];

  table[threadIdx.x] = reinterpret_cast<const unsigned char*>(in)[threadIdx.x];

  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i >= n) return;
  const unsigned word = in[kTableWords + i];

  const unsigned key = i & 255;
  unsigned byte[4];
  for (int b = 0; b < 4; ++b) byte[b] = word >> 8 * b & 255;
  for (int pass = 0; pass < k; ++pass) {
    for (int b = 0; b < 4; ++b) byte[b] = table[byte[b] ^ key];
  }
  out[i] = static_cast<int>(byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24);
}

LAUNCH_SHAPE(look_up, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
