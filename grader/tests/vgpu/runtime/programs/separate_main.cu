// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Two files compiled with -rdc=true: a function, a variable and a constant of the other file, and a
// function pointer taken there.
#include "check.cuh"

__device__ int twice(int n);
extern __device__ int calls;
extern __constant__ int offset;
using Step = int (*)(int);
extern __device__ Step step_of_the_other_file;

__global__ void across(int* out) {
  out[threadIdx.x] = twice(static_cast<int>(threadIdx.x)) + offset;
  out[32 + threadIdx.x] = step_of_the_other_file(static_cast<int>(threadIdx.x));
}
int launch_in_the_other_file(int* d_out);

int main() {
  int *d_out, out[64], counted = 0;
  const int new_offset = 7;
  CHECK_CUDA(cudaMalloc(&d_out, sizeof out));
  CHECK_CUDA(cudaMemcpyToSymbol(offset, &new_offset, sizeof new_offset));
  across<<<1, 32>>>(d_out);
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(out[i] == 2 * i + 7 && out[32 + i] == i + 100);
  CHECK_CUDA(cudaMemcpyFromSymbol(&counted, calls, sizeof counted));
  CHECK(counted == 32);
  CHECK(launch_in_the_other_file(d_out) == 2 * 5);
  CHECK_CUDA(cudaFree(d_out));
}
