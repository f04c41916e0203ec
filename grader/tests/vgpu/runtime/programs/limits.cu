// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// What is too much: one argument chooses a limit; CTest matches what the virtual GPU says.
#include <cstring>

#include "check.cuh"

__global__ void speak() { printf("line %d of a long story\n", static_cast<int>(threadIdx.x)); }

__global__ void hoard(int* refused) {
  while (malloc(64 << 10) != nullptr) {
  }
  *refused = 1;
}

__device__ int deep(int n, volatile int* sink) {
  volatile int frame[64];
  frame[n % 64] = n;
  return n == 0 ? *sink : deep(n - 1, sink) + frame[n % 64];
}
__global__ void recurse(int* out) { *out = deep(100000, out); }

int main(int, char** arguments) {
  const char* const what = arguments[1];
  int* d_word;
  CHECK_CUDA(cudaMalloc(&d_word, sizeof(int)));
  CHECK_CUDA(cudaMemset(d_word, 0, sizeof(int)));
  if (std::strcmp(what, "printf") == 0) {  // more than the buffer holds
    size_t bytes = 0;
    CHECK_CUDA(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1024));
    CHECK_CUDA(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    CHECK(bytes >= 1024);
    speak<<<1, 1024>>>();
    CHECK_CUDA(cudaDeviceSynchronize());
  } else if (std::strcmp(what, "heap") == 0) {
    int refused = 0;
    CHECK_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 20));
    hoard<<<1, 1>>>(d_word);
    CHECK_CUDA(cudaMemcpy(&refused, d_word, sizeof refused, cudaMemcpyDeviceToHost));
    CHECK(refused == 1);
    std::puts("the heap was exhausted, and said so");
  } else if (std::strcmp(what, "memory") == 0) {
    void* d_all = nullptr;
    size_t free_bytes = 0, all_bytes = 0;
    CHECK_CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
    CHECK(free_bytes <= all_bytes && all_bytes > size_t{1} << 30);
    CHECK_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&d_all, all_bytes + (size_t{1} << 30)));
    CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK_CUDA(cudaMalloc(&d_all, 1 << 20));
    CHECK_CUDA(cudaFree(d_all));
    std::puts("too large an allocation was refused");
  } else if (std::strcmp(what, "stack") == 0) {
    recurse<<<1, 1>>>(d_word);
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
    return 0;
  } else {
    return 1;
  }
  CHECK_CUDA(cudaFree(d_word));
}
