// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What every entry point of libcudart.so.13 shares: its linkage, the lock, lost devices, the last
/// error.
#pragma once

#include <mutex>
#include <new>

#include "grader/device_code/cuda_api/cuda_abi.hpp"
#include "grader/vgpu/runtime/device/context.hpp"
#include "grader/vgpu/runtime/device/stream_races.hpp"

/// An exported entry point. Everything else in the library is hidden.
#define CUDA_EXPORT extern "C" __attribute__((visibility("default")))
#define CUDA_CALL CUDA_EXPORT cudaError_t

/// An entry point with a parameter `stream`, and its twin for programs built with
/// --default-stream per-thread, for which stream 0 is the calling thread's own. The body follows.
#define CUDA_STREAM_CALL(name, parameters, arguments) \
  CUDA_CALL name parameters;                          \
  CUDA_CALL name##_ptsz parameters {                  \
    stream = per_thread(stream);                      \
    return name arguments;                            \
  }                                                   \
  CUDA_CALL name parameters
/// An entry point that works in the default stream, called `stream` in what it returns, and its
/// twin.
#define CUDA_DEFAULT_STREAM_CALL(name, parameters, ...) \
  CUDA_CALL name parameters {                           \
    const cudaStream_t stream = nullptr;                \
    return __VA_ARGS__;                                 \
  }                                                     \
  CUDA_CALL name##_ptds parameters {                    \
    const cudaStream_t stream = per_thread(nullptr);    \
    return __VA_ARGS__;                                 \
  }

namespace membound::vgpu::runtime {

/// Does a call wait for device work? Those that do are the first to see a kernel's fault.
enum class Waits { kNo, kYes };

/// What a call's body works on.
struct Call {
  Context& context;
  std::unique_lock<std::mutex>& lock;

  /// The stream behind a handle, or null.
  [[nodiscard]] Stream* stream(cudaStream_t handle) const { return context.streams.find(handle); }
};

/// Remembers a code as this thread's last error, if it is one, and hands it on.
cudaError_t remember_error(cudaError_t code);
/// This thread's last error; with `forget` it is cudaSuccess from then on.
cudaError_t last_error(bool forget);

/// Runs the body of an entry point.
template <typename Body>
cudaError_t api_call(Waits waits, Body body) {
  Context& only = context();
  std::unique_lock lock(only.mutex);
  const HostMemoryAccess access(only);
  if (const cudaError_t lost = only.error_seen_by(waits == Waits::kYes); lost != cudaSuccess)
    return remember_error(lost);
  try {
    return remember_error(body(Call{only, lock}));
  } catch (const std::bad_alloc&) {
    return remember_error(cudaErrorMemoryAllocation);
  }
}

/// The handle a `_ptsz` entry point means: 0 is this thread's own default stream.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream == nullptr ? reinterpret_cast<cudaStream_t>(2) : stream;
}

}  // namespace membound::vgpu::runtime
