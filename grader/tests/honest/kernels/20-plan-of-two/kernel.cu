// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// two kernels in a plan with scratch
#include "kernel.cuh"

__global__ void copy_piece(int*, const int* in, long long n, void* scratch) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) static_cast<int*>(scratch)[i] = in[i];
}
__global__ void store_piece(int* out, const int*, long long n, void* scratch) {
  const long long i = before_this_block(kThreads) + threadIdx.x;
  if (i < n) out[n - 1 - i] = static_cast<const int*>(scratch)[i];
}
__global__ void reverse_direct(int*, const int*, long long) {}
LAUNCH_PLAN(reverse_direct, long long n) {
  const LaunchShape shape = {.grid = {ceil_div(n, kThreads)}, .block = {kThreads}};
  return membound::plan_with_scratch(4 * n).then("copy_piece", shape).then("store_piece", shape);
}
