// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// CUDA calls that should not fail: what goes wrong here is the machine's or our fault, not the
/// student's. Launches of a student's kernel are not checked this way.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace membound::harness {

/// Thrown by cuda_check; caught once, in the test program's main().
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& text) : std::runtime_error(text), code_(code) {}
  [[nodiscard]] cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// "cudaErrorIllegalAddress: an illegal memory access was encountered"
[[nodiscard]] std::string cuda_error_text(cudaError_t code);

/// Throws CudaError unless `code` is cudaSuccess; `what` says what was tried.
void cuda_check(cudaError_t code, const char* what, const char* file = __builtin_FILE(),
                int line = __builtin_LINE());

}  // namespace membound::harness
