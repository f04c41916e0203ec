// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// names in namespaces, using declarations, an anonymous namespace
#include "kernel.cuh"
namespace mine { namespace { __device__ void put(int* out, long long at, int x) { out[at] = x; } } }
using mine::put;

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) put(out, n - 1 - i, in[i]);
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
