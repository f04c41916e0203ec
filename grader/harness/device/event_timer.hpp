// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Two CUDA events around some launches.
#pragma once

#include <cuda_runtime_api.h>

#include "grader/harness/device/cuda_check.hpp"

namespace membound::harness {

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
