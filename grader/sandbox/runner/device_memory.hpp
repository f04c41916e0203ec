// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Memory of the device for one judge. On a GPU what is freed is overwritten before another process
/// can get it, or kept for the next array of that size.
/// Place in the chain: server -> [device_memory] -> kept_memory, CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>

#include "grader/sandbox/runner/kept_memory.hpp"

namespace membound::runner {

/// Does not know what it handed out may be used for: Allocations does.
class DeviceMemory {
 public:
  /// Keeps up to `most_kept_bytes`. Where it keeps nothing every allocation is exactly as large as
  /// was asked for, and its end the place where the virtual GPU's memory ends.
  explicit DeviceMemory(std::uint64_t most_kept_bytes) : kept_(most_kept_bytes) {}
  /// Freed by hand, so that a scrub afterwards finds all of it.
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// A quarter of the GPU's memory: the other runner of a run needs as much. Nothing on the virtual
  /// GPU, whose memory is this process's and quickly had.
  [[nodiscard]] static std::uint64_t usual_kept_bytes();

  [[nodiscard]] cudaError_t allocate(std::uint64_t bytes, void*& data);
  /// Of what allocate() gave; waits for the device, as cudaFree() does.
  [[nodiscard]] cudaError_t free(void* data, std::uint64_t bytes);
  /// What nobody uses, beside what the runtime calls free.
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_.bytes(); }

 private:
  void free_all_kept();

  KeptMemory kept_;
  std::map<std::uint64_t, std::uint64_t> whole_bytes_;  // of pieces in use, by address
};

}  // namespace membound::runner
