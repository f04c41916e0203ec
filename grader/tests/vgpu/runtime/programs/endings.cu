// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Programs that end badly, one per argument; what the virtual GPU says is matched by CTest.
#include <cstring>

#include "check.cuh"

__global__ void fill(int* data) { data[threadIdx.x] = 1; }
__global__ void spin(volatile int* flag) {
  while (*flag == 0) {
  }
}

int main(int, char** arguments) {
  int* d_data;
  CHECK_CUDA(cudaMalloc(&d_data, 128));
  CHECK_CUDA(cudaMemset(d_data, 0, 128));
  if (std::strcmp(arguments[1], "leak") == 0) return 0;
  if (std::strcmp(arguments[1], "unchecked") == 0) fill<<<1, 2000>>>(d_data);
  if (std::strcmp(arguments[1], "endless") == 0) {
    spin<<<1, 1>>>(d_data);
    CHECK_FAILS(cudaErrorLaunchTimeout, cudaDeviceSynchronize());
    return 0;
  }
  if (std::strcmp(arguments[1], "launch") == 0) fill<<<1, 32>>>(d_data);
  CHECK_CUDA(cudaFree(d_data));
}
