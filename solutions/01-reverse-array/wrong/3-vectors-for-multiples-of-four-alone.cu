// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// 3-vectors-for-multiples-of-four-alone fails ReachesItsBar
// Why: moves vectors only where n is a multiple of 4: at any other n each lane walks through four
//      ints of its own.
#include "kernel.cuh"

__global__ void reverse_vector(int* out, const int* in, long long n) {
  const long long vector = static_cast<long long>(blockIdx.x) * kThreads + threadIdx.x;
  if (n % kVectorInts == 0) {
    if (vector >= n / kVectorInts) return;
    const int4 four = reinterpret_cast<const int4*>(in)[vector];
    reinterpret_cast<int4*>(out)[n / kVectorInts - 1 - vector] =
        make_int4(four.w, four.z, four.y, four.x);
    return;
  }
  for (long long i = kVectorInts * vector; i < kVectorInts * (vector + 1) && i < n; ++i)
    out[n - 1 - i] = in[i];
}

LAUNCH_SHAPE(reverse_vector, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads * kVectorInts);
  return shape;
}
