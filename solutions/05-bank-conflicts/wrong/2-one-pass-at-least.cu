// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 2
// Fails: EveryKindOfK
// Why:   asks whether to go on only after the first pass.
#include "kernel.cuh"

__global__ void look_up(int* out, const int* in, int n, int k) {
  __shared__ unsigned char table[kTableBytes];

  table[threadIdx.x] = reinterpret_cast<const unsigned char*>(in)[threadIdx.x];
  __syncthreads();

  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i >= n) return;
  const unsigned word = in[kTableWords + i];

  const unsigned key = i & 255;
  unsigned byte[4];
  for (int b = 0; b < 4; ++b) byte[b] = word >> 8 * b & 255;
  int pass = 0;
  do {
    for (int b = 0; b < 4; ++b) byte[b] = table[byte[b] ^ key];
  } while (++pass < k);
  out[i] = static_cast<int>(byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24);
}

LAUNCH_SHAPE(look_up, int n, int k) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
