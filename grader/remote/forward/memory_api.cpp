// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of the current device. Addresses are the runner's: numbers that this process never
/// follows.
#include "grader/remote/forward/devices.hpp"

using namespace membound::remote;  // NOLINT: the C interface below

namespace {

std::uint64_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

}  // namespace

FORWARD_EXPORT cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  if (data == nullptr) return remember(cudaErrorInvalidValue);
  return with_runner([&](Connection& runner) {
    AddressAnswer answer;
    const std::int32_t code = runner.call(Allocate{bytes}, &answer);
    if (code == 0) *data = reinterpret_cast<void*>(answer.address);
    return code;
  });
}

FORWARD_EXPORT cudaError_t cudaFree(void* data) {
  if (data == nullptr) return cudaSuccess;
  return with_runner([&](Connection& runner) { return runner.call(Free{number_of(data)}); });
}

FORWARD_EXPORT cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  return with_runner([&](Connection& runner) {
    return runner.call(SetBytes{number_of(data), value, bytes});
  });
}

FORWARD_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                      cudaMemcpyKind kind) {
  return with_runner([&](Connection& runner) -> std::int32_t {
    switch (kind) {
      case cudaMemcpyHostToDevice:
        return runner.upload(number_of(to), from, bytes);
      case cudaMemcpyDeviceToHost:
        return runner.download(to, number_of(from), bytes);
      case cudaMemcpyDeviceToDevice:
        return runner.call(CopyOnDevice{number_of(to), number_of(from), bytes});
      default:
        return cudaErrorInvalidMemcpyDirection;
    }
  });
}

FORWARD_EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                           cudaMemcpyKind kind, cudaStream_t stream) {
  if (stream != nullptr) return remember(cudaErrorInvalidResourceHandle);
  return cudaMemcpy(to, from, bytes, kind);
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
