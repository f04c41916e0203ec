// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: EveryRemainderOfAVector
// Why:   takes care of 1 or 3 elements behind the last vector, but not of 2: they are never
//        written.
#include "kernel.cuh"

__global__ void reverse_vector(int* out, const int* in, long long n) {
  const long long first = kVectorInts * (before_this_block(kThreads) + threadIdx.x);
  if (first + kVectorInts <= n) {
    const int* const from = in + (n - kVectorInts - first);
    int4 value;
    if (n % kVectorInts == 0) {
      const int4 read = *reinterpret_cast<const int4*>(from);
      value = {read.w, read.z, read.y, read.x};
    } else {
      value = {from[3], from[2], from[1], from[0]};
    }
    *reinterpret_cast<int4*>(out + first) = value;
  } else {
    const long long left = n - first;
    if (left == 1 || left == 3) out[n - 1] = in[0];
    if (left == 3) out[n - 2] = in[1];
    if (left == 3) out[n - 3] = in[2];
  }
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads * kVectorInts);
  return shape;
}
