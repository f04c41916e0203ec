// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Stage: 3
// Fails: MovesOneElement
// Finds: out of bounds read in `for (long long i = first; i <= n; ++i) out[i] = in[n - 1 -`
// Why:   the loop for the elements behind the last vector ends one too late and writes element n.
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
    for (long long i = first; i <= n; ++i) out[i] = in[n - 1 - i];
  }
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads * kVectorInts);
  return shape;
}
