// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The speed that this device reaches at best, measured in the same run as the student's kernel,
/// and what follows from it: which ceiling fits a case, what is too fast to be true, which stage a
/// slow kernel resembles.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/cuda_wrappers.hpp"
#include "grader/harness/device/device.hpp"
#include "grader/harness/device/device_kernels.hpp"

namespace membound::harness {

/// A result faster than the ceiling by more than this share is suspicious: a kernel cannot move the
/// useful bytes faster than a plain copy moves as many. The margin covers the noise of both
/// medians.
inline constexpr double kSuspicionMargin = 0.05;

/// Which kernel a case is held against.
enum class CeilingKind {
  kCopy,        ///< reads and writes
  kRead,        ///< hardly writes: reading alone is faster than copying
  kOperations,  ///< additions and minima
  kMultiplyAdd  ///< multiply-adds: two operations each
};

/// "copy", "read", "operations" or "multiply-add".
[[nodiscard]] std::string to_string(CeilingKind kind);

/// By the operations and the sizes of inputs and output.
[[nodiscard]] CeilingKind ceiling_kind_of(const TimedCase& timed_case);

/// Whether `rate` is beyond what `ceiling` allows; never when the ceiling is 0 (not measured).
[[nodiscard]] bool is_suspicious(double rate, double ceiling);

/// What a predicted rate is held below: the best that the same model predicts for this work in this
/// run, be it a plain copy or the reference answer. 0 where neither is known.
[[nodiscard]] double ceiling_of_prediction(double copy_rate, double reference_rate);

/// `time_ns` of a run that does `work`, made as long as `ceiling` (work per second) asks; as it is
/// where the ceiling is 0.
[[nodiscard]] double held_below(double ceiling, double work, double time_ns);

/// The stage among `stage_times` (number, nanoseconds) that is nearest to `student_ns`, if it is
/// within 20 %; 0 if none is.
[[nodiscard]] int nearest_stage(double student_ns,
                                const std::vector<std::pair<int, double>>& stage_times);

/// Measures each ceiling once and remembers it.
class Ceilings {
 public:
  Ceilings(const Device& device, const DeviceKernels& kernels)
      : device_(device), kernels_(kernels) {}

  /// Bytes (or operations) per second for a run that moves `useful_bytes`.
  [[nodiscard]] double measure(CeilingKind kind, double useful_bytes);

 private:
  [[nodiscard]] double measure_bytes(CeilingKind kind, std::size_t bytes);
  /// `operations(iterations)` fills the device and returns what it did.
  template <typename Operations>
  [[nodiscard]] double measure_operations(const Operations& operations);
  /// `prepare` gets the number of the sample.
  template <typename Prepare, typename Work>
  [[nodiscard]] double median_ns(const Prepare& prepare, const Work& work);

  const Device& device_;
  const DeviceKernels& kernels_;
  EventTimer timer_;
  std::map<std::pair<CeilingKind, std::size_t>, double> known_;
};

}  // namespace membound::harness
