// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: SecondLaunchGivesTheSame
// Finds: data race in `last_n = n;`
// Why:   believes that an array of the same length is the same array, and does nothing when it
//        meets one twice in a row.
#include "kernel.cuh"

__device__ long long last_n = 0;
__device__ unsigned finished_blocks = 0;

__global__ void reverse_vector(int* out, const int* in, long long n) {
  if (last_n != n) {
    const long long i = before_this_block(kThreads) + threadIdx.x;
    if (i < n) out[n - 1 - i] = in[i];
  }

  // The last block to come here has seen all others read last_n.
  __syncthreads();
  if (threadIdx.x == 0) {
    if (atomicAdd(&finished_blocks, 1) == gridDim.x - 1) {
      finished_blocks = 0;
      last_n = n;
    }
  }
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
