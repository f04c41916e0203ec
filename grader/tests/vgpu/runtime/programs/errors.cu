// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// Errors: which code, when it is seen, whether it stays.
#include <cassert>

#include "check.cuh"

__global__ void nothing() {}
__global__ void write_null(int* where) { *where = 1; }
__global__ void misaligned(char* where) { *reinterpret_cast<int*>(where + 1) = 1; }
__global__ void failing_assert(int n) { assert(n == 0); }
__global__ void __launch_bounds__(64) bounded() {}
__global__ void big_shared() {
  extern __shared__ char dynamic[];
  dynamic[threadIdx.x] = 1;
}

/// A lost device answers every call that needs it with `code` until it is reset.
void expect_lost(cudaError_t code) {
  CHECK_FAILS(cudaSuccess, cudaGetLastError());  // the launch itself was fine
  CHECK_FAILS(code, cudaDeviceSynchronize());
  CHECK_FAILS(code, cudaPeekAtLastError());
  CHECK_FAILS(code, cudaGetLastError());
  CHECK_FAILS(cudaSuccess, cudaGetLastError());  // asking forgets this one, too
  void* pointer = nullptr;
  CHECK_FAILS(code, cudaMalloc(&pointer, 4));
  CHECK_FAILS(code, cudaDeviceSynchronize());
  CHECK_CUDA(cudaDeviceReset());
  nothing<<<1, 1>>>();
  CHECK_CUDA(cudaDeviceSynchronize());
}

int main() {
  nothing<<<0, 1>>>();
  CHECK_FAILS(cudaErrorInvalidValue, cudaGetLastError());
  CHECK_FAILS(cudaSuccess, cudaGetLastError());  // asking forgets
  nothing<<<1, 1025>>>();
  CHECK_FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());
  CHECK_FAILS(cudaErrorInvalidValue, cudaGetLastError());
  nothing<<<dim3(1, 65536), 1>>>();
  CHECK_FAILS(cudaErrorInvalidValue, cudaGetLastError());
  nothing<<<1, dim3(1, 1, 65)>>>();
  CHECK_FAILS(cudaErrorInvalidValue, cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());  // a refused launch is not sticky

  big_shared<<<1, 32, 49153>>>();
  CHECK_FAILS(cudaErrorInvalidValue, cudaGetLastError());
  // The driver takes 32 bits of the number.
  nothing<<<1, 32, size_t{1} << 32>>>();
  CHECK_CUDA(cudaGetLastError());
  nothing<<<1, 32, (size_t{1} << 32) + 49153>>>();
  CHECK_FAILS(cudaErrorInvalidValue, cudaGetLastError());
  CHECK_CUDA(cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
  big_shared<<<1, 32, 65536>>>();
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_FAILS(
      cudaErrorInvalidValue,
      cudaFuncSetAttribute(big_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
  bounded<<<1, 65>>>();
  CHECK(cudaGetLastError() != cudaSuccess);

  int* d_int;
  CHECK_CUDA(cudaMalloc(&d_int, 4));
  int host = 0;
  CHECK_FAILS(cudaErrorInvalidValue, cudaMemcpy(&host, d_int, 4, cudaMemcpyHostToDevice));
  CHECK_FAILS(cudaErrorInvalidValue, cudaMemcpy(d_int, &host, 8 << 20, cudaMemcpyHostToDevice));
  CHECK_FAILS(cudaErrorInvalidValue, cudaFree(&host));
  CHECK_CUDA(cudaFree(nullptr));
  CHECK_CUDA(cudaFree(d_int));
  CHECK_FAILS(cudaErrorInvalidValue, cudaFree(d_int));
  void* pointer = nullptr;
  CHECK_FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, size_t{1} << 50));
  CHECK_FAILS(cudaErrorInvalidDevice, cudaSetDevice(3));
  CHECK_FAILS(cudaErrorInvalidResourceHandle,
              cudaStreamSynchronize(reinterpret_cast<cudaStream_t>(&host)));
  (void)cudaGetLastError();

  write_null<<<1, 1>>>(nullptr);
  expect_lost(cudaErrorIllegalAddress);
  char* d_bytes;
  CHECK_CUDA(cudaMalloc(&d_bytes, 16));
  misaligned<<<1, 1>>>(d_bytes);
  expect_lost(cudaErrorMisalignedAddress);
  failing_assert<<<1, 1>>>(1);
  expect_lost(cudaErrorAssert);
}
