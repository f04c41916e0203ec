// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The CUDA runtime as objects: calls that should not fail (what goes wrong there is the machine's
/// or our fault, not the student's), the current device, device memory for the harness's own use,
/// and timing by events. A student's check has one device, and never sets it; a graded run has the
/// reference's and the student's, each in a runner of its own (grader/sandbox/runner).
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include <cuda_runtime_api.h>

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
[[nodiscard]] inline std::string cuda_error_text(cudaError_t code) {
  return std::string(cudaGetErrorName(code)) + ": " + cudaGetErrorString(code);
}

/// Throws CudaError unless `code` is cudaSuccess; `what` says what was tried.
inline void cuda_check(cudaError_t code, const char* what, const char* file = __builtin_FILE(),
                       int line = __builtin_LINE()) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // a failing cudaMalloc must not show up in a later launch
  throw CudaError(code, std::string(what) + " failed (" + file + ":" + std::to_string(line) +
                            "): " + cuda_error_text(code));
}

/// Makes a device current, and the one before it again at the end of the scope. Main thread only.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : before_(current_) { make_current(device); }
  // The device before was current once, so that it can be made current again.
  ~DeviceScope() { make_current(before_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

  [[nodiscard]] static int current() { return current_; }

 private:
  static void make_current(int device) {
    if (device == current_) return;
    cuda_check(cudaSetDevice(device), "choosing a device");
    current_ = device;
  }

  inline static int current_ = 0;  // as the runtime has it; asked so often that it is kept
  int before_;
};

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

/// `size_bytes` bytes somewhere in an allocation that has `room_bytes` more. Content is not
/// initialised, and means nothing after place().
class PlacedBuffer {
 public:
  PlacedBuffer() = default;
  explicit PlacedBuffer(std::size_t size_bytes, std::size_t room_bytes = 0)
      : memory_(size_bytes > 0 ? size_bytes + room_bytes : 0),
        size_bytes_(size_bytes),
        places_(room_bytes / kPageBytes + 1) {}

  /// Moves to one of its places; each follows from some draws.
  void place(std::uint64_t draw) { offset_bytes_ = draw % places_ * kPageBytes; }

  [[nodiscard]] void* data() const {
    auto* const start = static_cast<std::byte*>(memory_.data());
    return start == nullptr ? nullptr : start + offset_bytes_;
  }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  /// What a GPU's memory is mapped in: places are aligned like allocations of their own.
  static constexpr std::size_t kPageBytes = std::size_t{2} << 20;

  DeviceBuffer memory_;
  std::size_t size_bytes_ = 0, places_ = 1, offset_bytes_ = 0;
};

/// Times what is queued on the default stream between start() and stop().
class EventTimer {
 public:
  EventTimer() {
    cuda_check(cudaEventCreate(&start_), "creating an event");
    cuda_check(cudaEventCreate(&stop_), "creating an event");
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  ~EventTimer() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }

  void start() { cuda_check(cudaEventRecord(start_, nullptr), "recording an event"); }
  void stop() { cuda_check(cudaEventRecord(stop_, nullptr), "recording an event"); }
  /// Waits for stop(); the code of a fault that happened meanwhile.
  [[nodiscard]] cudaError_t wait() { return cudaEventSynchronize(stop_); }
  /// After a successful wait().
  [[nodiscard]] double nanoseconds() {
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, start_, stop_), "reading a time");
    return static_cast<double>(milliseconds) * 1e6;
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace membound::harness
