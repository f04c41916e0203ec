// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: ReachesItsBar
// Why:   launches twice as many threads as there are elements and lets the others add 0: right, but
//        the queue in front of *sum is twice as long.
#include "kernel.cuh"

__global__ void reduce_global_atomics(float* sum, const float* in, long long n) {
  const long long element = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  atomicAdd(sum, element < n ? in[element] : 0.0f);
}

LAUNCH_SHAPE(reduce_global_atomics, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = 2 * ceil_div(n, kThreads);
  return shape;
}
