// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 1
// Fails: ReachesItsBar
// Why:   each thread walks through 64 neighbours on its own, as a CPU thread would: 32 lanes touch
//        32 sectors in every step.
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long first = 64 * (before_this_block(kThreads) + threadIdx.x);
  for (long long i = first; i < first + 64 && i < n; ++i) out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, 64 * kThreads);
  return shape;
}
