// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0

// cudaLibraryLoadFromFile and cudaLibraryLoadData of each file named on the command line: a kernel
// and two variables are found, changed and used; files that are no device code are refused.
#include <fstream>
#include <iterator>
#include <string>

#include "check.cuh"

namespace {

void use(cudaLibrary_t library) {
  cudaKernel_t kernel;
  CHECK_CUDA(cudaLibraryGetKernel(&kernel, library, "scale"));
  CHECK_FAILS(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "nothing"));
  CHECK_CUDA(cudaLibraryGetKernel(&kernel, library, "scale"));
  void* d_factor = nullptr;
  size_t bytes = 0;
  CHECK_CUDA(cudaLibraryGetGlobal(&d_factor, &bytes, library, "factor"));
  CHECK(bytes == sizeof(int));
  const int factor = 5;
  CHECK_CUDA(cudaMemcpy(d_factor, &factor, sizeof factor, cudaMemcpyHostToDevice));
  int values[32], *d_values;
  for (int i = 0; i < 32; ++i) values[i] = i;
  CHECK_CUDA(cudaMalloc(&d_values, sizeof values));
  CHECK_CUDA(cudaMemcpy(d_values, values, sizeof values, cudaMemcpyHostToDevice));
  void* arguments[] = {&d_values};
  CHECK_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), 1, 32, arguments, 0, nullptr));
  CHECK_CUDA(cudaMemcpy(values, d_values, sizeof values, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; ++i) CHECK(values[i] == 5 * i + 10);
  CHECK_CUDA(cudaFree(d_values));
  CHECK_CUDA(cudaLibraryUnload(library));
}

}  // namespace

int main(int count, char** arguments) {
  CHECK(count > 1);
  cudaLibrary_t library;
  for (int i = 1; i < count; ++i) {
    CHECK_CUDA(
        cudaLibraryLoadFromFile(&library, arguments[i], nullptr, nullptr, 0, nullptr, nullptr, 0));
    use(library);
    std::ifstream file(arguments[i], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    CHECK(!bytes.empty());
    CHECK_CUDA(
        cudaLibraryLoadData(&library, bytes.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
    use(library);
  }
  CHECK_FAILS(cudaErrorFileNotFound,
              cudaLibraryLoadFromFile(&library, "/nonexistent.fatbin", nullptr, nullptr, 0, nullptr,
                                      nullptr, 0));
  CHECK(cudaLibraryLoadData(&library, "this is no device code", nullptr, nullptr, 0, nullptr,
                            nullptr, 0) != cudaSuccess);
}
