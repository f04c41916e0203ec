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

#include "grader/harness/device.hpp"
#include "grader/harness/device_kernels.hpp"
#include "grader/harness/event_timer.hpp"
#include "grader/harness/timed_case.hpp"

namespace membound::harness {

/// A result faster than the ceiling by more than this share is suspicious: a kernel cannot move the
/// useful bytes faster than a plain copy moves as many. The margin covers the noise of both
/// medians.
inline constexpr double kSuspicionMargin = 0.05;

/// Which kernel a case is held against.
enum class CeilingKind {
  kCopy,       ///< reads and writes
  kRead,       ///< hardly writes: reading alone is faster than copying
  kOperations  ///< additions and minima
};

/// "copy", "read" or "operations".
[[nodiscard]] std::string to_string(CeilingKind kind);

/// By useful_operations and the sizes of inputs and output.
[[nodiscard]] CeilingKind ceiling_kind_of(const TimedCase& timed_case);

/// Whether `rate` is beyond what `ceiling` allows; never when the ceiling is 0 (not measured).
[[nodiscard]] bool is_suspicious(double rate, double ceiling);

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
  template <typename Work>
  [[nodiscard]] double median_ns(const Work& work);

  const Device& device_;
  const DeviceKernels& kernels_;
  EventTimer timer_;
  std::map<std::pair<CeilingKind, std::size_t>, double> known_;
};

}  // namespace membound::harness
