// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The last error, names and texts.
#include "grader/vgpu/runtime/api/api.hpp"
#include "grader/vgpu/runtime/device/console_messages.hpp"
#include "grader/vgpu/runtime/device/finish.hpp"

namespace membound::vgpu::runtime {
namespace {

thread_local cudaError_t this_threads_error = cudaSuccess;

}  // namespace

cudaError_t remember_error(cudaError_t code) {
  if (code != cudaSuccess) this_threads_error = code;
  return code;
}

cudaError_t last_error(bool forget) {
  const cudaError_t code = this_threads_error;
  if (forget) this_threads_error = cudaSuccess;
  return code;
}

namespace {

/// What this thread's calls have returned since it was asked for last. Errors that cost the device
/// are forgotten like all others; it is the next call which needs the device that returns them
/// again (as an H200 with CUDA 13 does).
cudaError_t read_last_error(bool forget) {
  launch_error_is_read();
  return last_error(forget);
}

}  // namespace
}  // namespace membound::vgpu::runtime

using namespace membound::vgpu::runtime;  // NOLINT: the C interface below

CUDA_CALL cudaGetLastError() { return read_last_error(true); }

CUDA_CALL cudaPeekAtLastError() { return read_last_error(false); }

CUDA_EXPORT const char* cudaGetErrorName(cudaError_t error) { return messages::error_name(error); }

CUDA_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  return messages::error_text(error);
}
