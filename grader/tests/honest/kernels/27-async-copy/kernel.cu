// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// cp.async into shared memory by inline PTX
#include "kernel.cuh"

__global__ void reverse_direct(int* out, const int* in, long long n) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  __shared__ int piece[kThreads];
  const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(piece + threadIdx.x));
  if (i < n) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"(place), "l"(in + i) : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  if (i < n) out[n - 1 - i] = piece[threadIdx.x];
}

LAUNCH_SHAPE(reverse_direct, long long n) {
  LaunchShape shape;
  shape.block = kThreads;
  shape.grid = ceil_div(n, kThreads);
  return shape;
}
