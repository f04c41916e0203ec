// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// What kernels ask of the runtime: printf and malloc; and what the device says of itself.
#include "check.cuh"

__global__ void speak(int n) { printf("thread %d of %d\n", threadIdx.x, n); }

__global__ void heap(int* ok) {
  int* mine = static_cast<int*>(malloc(64));
  ok[threadIdx.x] = mine != nullptr;
  if (mine == nullptr) return;
  mine[3] = threadIdx.x;
  ok[threadIdx.x] = mine[3] == threadIdx.x;
  free(mine);
}

int main() {
  speak<<<1, 2>>>(2);
  CHECK_CUDA(cudaDeviceSynchronize());
  int *d_ok, ok[8];
  CHECK_CUDA(cudaMalloc(&d_ok, sizeof ok));
  heap<<<1, 8>>>(d_ok);
  CHECK_CUDA(cudaMemcpy(ok, d_ok, sizeof ok, cudaMemcpyDeviceToHost));
  for (const int one : ok) CHECK(one == 1);

  cudaDeviceProp properties;
  CHECK_CUDA(cudaGetDeviceProperties(&properties, 0));
  int sms = 0, major = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK_CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  CHECK(sms == properties.multiProcessorCount && major == properties.major);
  CHECK(properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
  size_t heap_bytes = 0;
  CHECK_CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
  CHECK_CUDA(cudaDeviceGetLimit(&heap_bytes, cudaLimitMallocHeapSize));
  CHECK(heap_bytes == 32 << 20);
  cudaFuncAttributes attributes;
  CHECK_CUDA(cudaFuncGetAttributes(&attributes, heap));
  CHECK(attributes.maxThreadsPerBlock == 1024 && attributes.numRegs > 0);
  int count = 0, version = 0;
  CHECK_CUDA(cudaGetDeviceCount(&count));
  CHECK_CUDA(cudaRuntimeGetVersion(&version));
  CHECK(count == 1 && version / 1000 == 13);
}
