// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every entry point of this libcudart.so.13 shares: its linkage, the driver, the context of
/// the calling thread's device, the last error.
#pragma once

#include <cuda_runtime_api.h>

#include "grader/device_code/cuda_api/driver.hpp"

/// An exported entry point. Everything else in the library is hidden.
#define GPU_EXPORT extern "C" __attribute__((visibility("default")))
#define GPU_CALL GPU_EXPORT cudaError_t

namespace membound::gpu_runtime {

/// This thread's last error.
inline thread_local cudaError_t last_error = cudaSuccess;

/// Remembers a code of the driver's or the runtime's as the thread's last error, if it is one, and
/// hands it on.
inline cudaError_t remember(int code) {
  if (code != cudaSuccess && code != cudaErrorNotReady) last_error = static_cast<cudaError_t>(code);
  return static_cast<cudaError_t>(code);
}

/// The driver, started; null where there is none, or none that has all that is called here.
const cuda_api::Functions* started_driver(int& code);

/// Makes the primary context of the thread's device current; a code.
int enter_context(const cuda_api::Functions& driver);

/// Runs `body` with the driver.
template <typename Body>
cudaError_t with_driver(Body body) {
  int code = cudaSuccess;
  const cuda_api::Functions* const driver = started_driver(code);
  return remember(driver == nullptr ? code : body(*driver));
}

/// Runs `body` with the driver, in the context of the thread's device.
template <typename Body>
cudaError_t in_context(Body body) {
  return with_driver([&](const cuda_api::Functions& driver) {
    const int code = enter_context(driver);
    return code == cudaSuccess ? body(driver) : code;
  });
}

inline cuda_api::Address address(const void* pointer) {
  return reinterpret_cast<cuda_api::Address>(pointer);
}

}  // namespace membound::gpu_runtime
