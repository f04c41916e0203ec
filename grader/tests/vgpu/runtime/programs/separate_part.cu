// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// The other half of separate_main.cu.
#include "check.cuh"

__device__ int calls = 0;
__constant__ int offset = 1;

__device__ int twice(int n) {
  atomicAdd(&calls, 1);
  return 2 * n;
}

static __device__ int hundred_more(int n) { return n + 100; }
using Step = int (*)(int);
__device__ Step step_of_the_other_file = hundred_more;

__global__ void here(int* out) { out[0] = twice(5); }

int launch_in_the_other_file(int* d_out) {
  int first = 0;
  here<<<1, 1>>>(d_out);
  CHECK_CUDA(cudaMemcpy(&first, d_out, sizeof first, cudaMemcpyDeviceToHost));
  return first;
}
