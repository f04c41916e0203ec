// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The SM clock and why it is throttled, read through the driver's management library (NVML), which
/// is loaded at run time: without it the numbers are simply absent.
/// Place in the chain: timing -> [clocks] -> libnvidia-ml.so.1.
/// Source: NVML API Reference Manual, "Device Queries" and "Clocks Event Reasons".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "grader/course/measurement.hpp"

namespace membound::harness {

/// The words for the bits of nvmlDeviceGetCurrentClocksThrottleReasons that slow a kernel down;
/// idleness and settings a person chose are not among them.
[[nodiscard]] std::vector<std::string> throttle_words(unsigned long long bits);

/// Collects clock samples of one GPU.
class ClockReader {
 public:
  /// `pci_bus_id` as the CUDA runtime prints it; empty (no clocks) reads nothing.
  explicit ClockReader(const std::string& pci_bus_id);
  ClockReader(ClockReader&&) noexcept;
  ~ClockReader();

  /// Whether there are clocks, and nothing to read them with.
  [[nodiscard]] bool missing() const { return has_clocks_ && library_ == nullptr; }
  /// Takes one sample; best while a kernel is running.
  void sample();
  /// Minimum, mean and maximum since the last call, and all throttle reasons seen; starts anew.
  void take(course::Clocks& clocks, std::vector<std::string>& throttle_reasons);

 private:
  struct Library;
  bool has_clocks_;
  std::unique_ptr<Library> library_;
  std::vector<double> sm_mhz_;
  unsigned long long throttle_bits_ = 0;
};

}  // namespace membound::harness
