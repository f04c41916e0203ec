// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// Lab 09: sums by 256 threads a multiprocessor, each of which starts 1, 2, 4, … loads before it
// uses the first. n is a multiple of 16.
//
//     ./membound experiment loads-in-flight
#include "membound.cuh"

constexpr int kThreads = 256;

template <int kLoads>
__global__ void loads_in_flight(float* out, const float* in, int n) {
  const long long threads = static_cast<long long>(gridDim.x) * kThreads;
  const long long thread = blockIdx.x * kThreads + threadIdx.x;
  float sum = 0;
  long long i = thread;
#pragma unroll 1
  for (; i + (kLoads - 1) * threads < n; i += kLoads * threads) {
    float value[kLoads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) value[k] = in[i + k * threads];
#pragma unroll
    for (int k = 0; k < kLoads; ++k) sum += value[k];
  }
#pragma unroll 1
  for (; i < n; i += threads) sum += in[i];
  out[thread] = sum;
}

#define POINT(x) template __global__ void loads_in_flight<x>(float*, const float*, int);
POINT(1)
POINT(2)
POINT(4)
POINT(8)
POINT(16)

LAUNCH_SHAPE(loads_in_flight, Gpu gpu, int, int) {
  return {.grid = dim3(gpu.sm_count), .block = dim3(kThreads)};
}
