// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Plain device memory for the harness's own use; arrays that students' kernels are tested on have
/// guard zones (guarded_memory.hpp).
#pragma once

#include <cstddef>
#include <utility>

#include "grader/harness/device/cuda_check.hpp"
#include "grader/harness/device/device_scope.hpp"

namespace membound::harness {

/// Owns `size_bytes` bytes of the device that is current when it is made; movable. Content is not
/// initialised.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
    if (size_bytes > 0) cuda_check(cudaMalloc(&d_data_, size_bytes), "allocating a buffer");
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : d_data_(std::exchange(other.d_data_, nullptr)),
        size_bytes_(std::exchange(other.size_bytes_, 0)),
        device_(other.device_) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(d_data_, other.d_data_);
    std::swap(size_bytes_, other.size_bytes_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~DeviceBuffer() {
    const DeviceScope on(device_);
    cudaFree(d_data_);
  }

  [[nodiscard]] void* data() const { return d_data_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  void* d_data_ = nullptr;
  std::size_t size_bytes_ = 0;
  int device_ = DeviceScope::current();
};

}  // namespace membound::harness
