// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// templates with lambdas and constexpr if
#include "kernel.cuh"
template <bool kReverse, typename T>
__device__ __forceinline__ void move(T* out, const T* in, long long i, long long n) {
  const auto target = [=](long long k) { if constexpr (kReverse) return n - 1 - k; else return k; };
  if (i < n) out[target(i)] = in[i];
}

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  move<true>(out, in, i, n);
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
