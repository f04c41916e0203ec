// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of the current device. Addresses are the runner's: numbers that this process never
/// follows.
#include <atomic>
#include <cstdio>
#include <cstring>

#include "grader/sandbox/forward/devices.hpp"
#include "grader/sandbox/forward/host_memory.hpp"

using namespace membound::forward;  // NOLINT: the C interface below

namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// A copy between host and device, and why it cannot be part of a graph, where that was asked for.
std::int32_t explained(std::int32_t code) {
  static std::atomic<bool> was_said{false};
  if (code == cudaErrorStreamCaptureUnsupported && !was_said.exchange(true))
    std::fputs(
        "membound: a copy between host and device cannot be captured here: program and device "
        "are two processes. Copy before the capture, and behind the graph's launch.\n",
        stderr);
  return code;
}

}  // namespace

FORWARD_EXPORT cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  return with_runner([&](Connection& runner) {
    AddressAnswer answer;
    const std::int32_t code = runner.call(Allocate{bytes}, &answer);
    if (code != 0) return code;
    *data = reinterpret_cast<void*>(answer.address);
    remember_device_memory(*data, bytes);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  return with_runner([&](Connection& runner) {
    const std::int32_t code = delivered(runner, runner.call(Free{number_of(data)}));
    if (code == 0) forget_device_memory(data);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t stream) {
  std::uint32_t in = 0;
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) {
    AddressAnswer answer;
    const std::int32_t code = runner.call(AllocateAsync{bytes, in}, &answer);
    if (code != 0) return code;
    *data = reinterpret_cast<void*>(answer.address);
    remember_device_memory(*data, bytes);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  std::uint32_t in = 0;
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) {
    const std::int32_t code = runner.call(FreeAsync{number_of(data), in});
    if (code == 0) forget_device_memory(data);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return with_runner([&](Connection& runner) {
    return runner.call(SetBytes{number_of(data), value, bytes});
  });
}

FORWARD_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                      cudaMemcpyKind kind) {
  return with_runner([&](Connection& runner) -> std::int32_t {
    switch (direction_of(to, from, kind)) {
      case cudaMemcpyHostToDevice:
        return runner.upload(number_of(to), from, bytes);
      case cudaMemcpyDeviceToHost:
        return delivered(runner, runner.download(to, number_of(from), bytes));
      case cudaMemcpyHostToHost:
        std::memmove(to, from, bytes);
        return cudaSuccess;
      case cudaMemcpyDeviceToDevice:
        return runner.call(CopyOnDevice{number_of(to), number_of(from), bytes});
      default:
        return cudaErrorInvalidMemcpyDirection;
    }
  });
}

FORWARD_EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  std::uint32_t in = 0;
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) -> std::int32_t {
    // A test program's only stream is the default one, and its copies may wait.
    if (runner.device().records_calls == 0) return cudaMemcpy(to, from, bytes, kind);
    switch (direction_of(to, from, kind)) {
      case cudaMemcpyHostToDevice:
        return explained(runner.copy_in(number_of(to), from, bytes, in, is_pinned(from, bytes)));
      case cudaMemcpyDeviceToHost:
        return explained(copy_to_host(runner, to, number_of(from), bytes, in));
      case cudaMemcpyDeviceToDevice:
        return runner.call(CopyOnDevice{number_of(to), number_of(from), bytes, in});
      case cudaMemcpyHostToHost:
        std::memmove(to, from, bytes);
        return cudaSuccess;
      default:
        return cudaErrorInvalidMemcpyDirection;
    }
  });
}

FORWARD_EXPORT cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes,
                                           cudaStream_t stream) {
  std::uint32_t in = 0;
  if (!stream_number(stream, in)) return remember(cudaErrorInvalidResourceHandle);
  return with_runner([&](Connection& runner) {
    return runner.call(SetBytes{number_of(data), value, bytes, in});
  });
}

FORWARD_EXPORT cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned int) {
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  *data = allocate_pinned(bytes);
  return *data == nullptr ? remember(cudaErrorMemoryAllocation) : cudaSuccess;
}

FORWARD_EXPORT cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  return cudaHostAlloc(data, bytes, 0);
}

FORWARD_EXPORT cudaError_t cudaFreeHost(void* data) {
  if (data == nullptr) return cudaSuccess;
  // A copy into it may be under way.
  const cudaError_t code =
      with_runner([](Connection& runner) { return delivered(runner, runner.call(FreeOfHost{})); });
  if (!free_pinned(data)) return remember(cudaErrorInvalidValue);
  return code;
}

FORWARD_EXPORT cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned int) {
  if (data == nullptr || bytes == 0) return remember(cudaErrorInvalidValue);
  return pin(data, bytes) ? cudaSuccess : remember(cudaErrorHostMemoryAlreadyRegistered);
}

FORWARD_EXPORT cudaError_t cudaHostUnregister(void* data) {
  const cudaError_t code =
      with_runner([](Connection& runner) { return delivered(runner, runner.call(FreeOfHost{})); });
  return unpin(data) ? code : remember(cudaErrorHostMemoryNotRegistered);
}

FORWARD_EXPORT cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return with_runner([&](Connection& runner) {
    MemoryAnswer answer;
    const std::int32_t code = runner.call(AskMemory{}, &answer);
    if (free_bytes != nullptr) *free_bytes = answer.free_bytes;
    if (total_bytes != nullptr) *total_bytes = answer.total_bytes;
    return code;
  });
}
