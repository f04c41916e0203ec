// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Variables on the device: constant, global, managed, initialised with values and addresses.
#include "check.cuh"

__constant__ float coefficients[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int* pointer_to_counter = &counter;
__managed__ int shared_number = 7;

__global__ void use(float* out) {
  out[threadIdx.x] = coefficients[threadIdx.x] * 10;
  if (threadIdx.x == 0) {
    *pointer_to_counter += 1;
    shared_number *= 2;
  }
}

int main() {
  shared_number += 1;  // 8: host code reads and writes it before any kernel
  float* d_out;
  CHECK_CUDA(cudaMalloc(&d_out, 4 * sizeof(float)));
  const float changed = 30;
  CHECK_CUDA(cudaMemcpyToSymbol(coefficients, &changed, sizeof changed, 2 * sizeof(float)));
  use<<<1, 4>>>(d_out);
  CHECK_CUDA(cudaDeviceSynchronize());
  float out[4];
  CHECK_CUDA(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
  CHECK(out[0] == 10 && out[1] == 20 && out[2] == 300 && out[3] == 40);
  int host_counter = 0;
  CHECK_CUDA(cudaMemcpyFromSymbol(&host_counter, counter, sizeof counter));
  CHECK(host_counter == 6);
  CHECK(shared_number == 16);

  void* address = nullptr;
  size_t bytes = 0;
  CHECK_CUDA(cudaGetSymbolAddress(&address, counter));
  CHECK_CUDA(cudaGetSymbolSize(&bytes, coefficients));
  CHECK(bytes == 16);
  const int nine = 9;
  CHECK_CUDA(cudaMemcpy(address, &nine, sizeof nine, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpyFromSymbol(&host_counter, counter, sizeof counter));
  CHECK(host_counter == 9);
  int no_symbol = 0;
  CHECK_FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(no_symbol, &nine, sizeof nine));
  CHECK_FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(counter, &nine, 4, 4));
}
