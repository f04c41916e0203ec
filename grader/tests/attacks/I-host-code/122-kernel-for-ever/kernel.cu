// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// never ends, on the device
#include "kernel.cuh"

__global__ void add(volatile int* c) {
  while (c[0] == 0) {
  }
}

int main() {
  int* d;
  cudaMalloc(&d, 4);
  cudaMemset(d, 0, 4);
  add<<<1, 1>>>(d);
  cudaDeviceSynchronize();
}
