// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
// Is linked with cuBLAS: makes a handle with one argument, computes something with two.
#include <cstdio>

#include "grader/device_code/cuda_api/cuda_abi.hpp"

extern "C" cudaError_t cudaMalloc(void** out, std::size_t bytes);
extern "C" cudaError_t cudaFree(void* pointer);
extern "C" int cublasCreate_v2(void** handle);
extern "C" int cublasSscal_v2(void* handle);
extern "C" int cublasDestroy_v2(void* handle);

int main(int count, char**) {
  void* d_data = nullptr;
  if (cudaMalloc(&d_data, 256) != cudaSuccess || cudaFree(d_data) != cudaSuccess) return 1;
  std::puts("ran");
  if (count < 2) return 0;
  void* handle = nullptr;
  if (cublasCreate_v2(&handle) != 0 || handle == nullptr) return 1;
  if (count > 2 && cublasSscal_v2(handle) != 0) return 1;
  return cublasDestroy_v2(handle);
}
