// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The speed that this device reaches at best, measured in the same run as the student's kernel.
/// Place in the chain: timing -> [ceiling] -> device_kernels. Left out: what follows from passing
/// it.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "grader/harness/device/device.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/event_timer.hpp"
#include "grader/harness/measure/speed_rules.hpp"

namespace membound::harness {

/// Measures each ceiling once and remembers it.
class Ceilings {
 public:
  Ceilings(const Device& device, const DeviceKernels& kernels)
      : device_(device), kernels_(kernels) {}

  /// Bytes (or operations) per second for a run that moves `useful_bytes`.
  [[nodiscard]] double measure(CeilingKind kind, double useful_bytes);

 private:
  [[nodiscard]] double measure_bytes(CeilingKind kind, std::size_t bytes);
  [[nodiscard]] double measure_operations();
  /// `prepare` gets the number of the sample.
  template <typename Prepare, typename Work>
  [[nodiscard]] double median_ns(const Prepare& prepare, const Work& work);

  const Device& device_;
  const DeviceKernels& kernels_;
  EventTimer timer_;
  std::map<std::pair<CeilingKind, std::size_t>, double> known_;
};

}  // namespace membound::harness
