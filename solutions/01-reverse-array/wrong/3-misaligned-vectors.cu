// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: RunsWithoutFault
// Finds: misaligned access in `const int4 read = *reinterpret_cast<const int4*>(in + (n -`
// Why:   reads an int4 for any n; unless n is a multiple of 4 it does not lie at a multiple of 16
//        bytes.
#include "kernel.cuh"

__global__ void reverse_vector(int* out, const int* in, long long n) {
  const long long first = kVectorInts * (before_this_block(kThreads) + threadIdx.x);
  if (first + kVectorInts <= n) {
    const int4 read = *reinterpret_cast<const int4*>(in + (n - kVectorInts - first));
    const int4 value = {read.w, read.z, read.y, read.x};
    *reinterpret_cast<int4*>(out + first) = value;
  } else {
    for (long long i = first; i < n; ++i) out[i] = in[n - 1 - i];
  }
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads * kVectorInts);
  return shape;
}
