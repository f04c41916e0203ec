// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
//
// device code that looks at the global clock
#include "kernel.cuh"

__global__ void add(unsigned long long* c) { asm volatile("mov.u64 %0, %globaltimer;" : "=l"(*c)); }

int main() {
  unsigned long long* d;
  cudaMalloc(&d, 8);
  add<<<1, 1>>>(d);
}
