// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/device/cuda_check.hpp"

namespace membound::harness {

std::string cuda_error_text(cudaError_t code) {
  return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

void cuda_check(cudaError_t code, const char* what, const char* file, int line) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // a failing cudaMalloc must not show up in a later launch
  throw CudaError(code, std::string(what) + " failed (" + file + ":" + std::to_string(line) +
                            "): " + cuda_error_text(code));
}

}  // namespace membound::harness
