// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times one case: student and reference in turn, on fresh inputs, every output compared.
/// Place in the chain: stage_run -> [timing] -> launcher, device_kernels, stop_rule.
/// Left out: what the numbers mean for points; judge/verdict says.
///
/// One pair, the two in random order, each prepared in the same way:
///   draw inputs, poison output, flush L2 | event, launches, event
/// and after both the student's output is compared with the reference's. The reference always runs
/// last before the comparison (a second, untimed time if it was first), so that its answer is never
/// in memory while the student's kernel runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "grader/course/measurement.hpp"
#include "grader/harness/cases/seeds.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/device.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/launcher.hpp"
#include "grader/harness/device/watchdog.hpp"
#include "grader/harness/measure/ceiling.hpp"
#include "grader/harness/measure/clocks.hpp"
#include "grader/harness/measure/known_times.hpp"
#include "grader/harness/measure/stop_rule.hpp"

namespace membound::harness {

/// What all cases of a program share.
struct TimingBench {
  const Device& device;
  const DeviceKernels& kernels;
  const Device& reference_device;  ///< the same two but in a graded run
  const DeviceKernels& reference_kernels;
  const Seeds& seeds;
  const Launcher& student;
  const Launcher& reference;
  Watchdog& watchdog;
  ClockReader& clocks;
  Ceilings& ceilings;
  /// What the reference takes; then it has no device: both names above are the student's. May be
  /// null.
  const ReferenceTimes* known;
  /// A student's launch ended with this error; does not return.
  std::function<void(cudaError_t)> on_fault;
};

/// One case of one stage.
struct TimingRequest {
  const TimedCase& timed_case;
  int stage = 0;       ///< its number
  std::string kernel;  ///< and kernel
  StopLimits limits;
  double timeout_seconds = 20;
  std::uint64_t seed = 1;
};

/// What was observed.
struct TimingOutcome {
  course::Timing timing;
  std::vector<course::KernelFacts> facts;
  nlohmann::json counters;         ///< see course::StageMeasurement::counters; null on a real GPU
  std::optional<Refusal> refusal;  ///< the student's launch was refused; then nothing was timed
};

/// A reference answer that cannot be launched or fails: our fault, not the student's.
class ReferenceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Leaves in a report of the virtual GPU only kernels of the module that was timed: ours prepare
/// its data.
void drop_own_kernels(nlohmann::json& report);

/// Times the case. Throws ReferenceError.
[[nodiscard]] TimingOutcome time_case(const TimingBench& bench, const TimingRequest& request);

/// Time of a stage's reference answer on `timed_case`: median of three, or what is known of it.
/// Throws ReferenceError.
[[nodiscard]] double time_reference(const TimingBench& bench, const TimingRequest& request);

}  // namespace membound::harness
