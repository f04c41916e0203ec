// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Everything one run of a test program shares between its stages: device, modules, clocks.
/// Place in the chain: main -> [session] -> stage_run. Left out: what happens to a stage.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/device.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/launcher.hpp"
#include "grader/harness/device/submission.hpp"
#include "grader/harness/device/watchdog.hpp"
#include "grader/harness/lab/test_options.hpp"
#include "grader/harness/measure/ceiling.hpp"
#include "grader/harness/measure/clocks.hpp"
#include "grader/harness/measure/known_times.hpp"

namespace membound::harness {

/// Stays where it is made: its parts refer to each other.
class Session {
 public:
  /// Opens the device and loads all modules. An error of the kind kInput is the submission's:
  /// everything else was loaded before it.
  [[nodiscard]] static base::Result<std::unique_ptr<Session>> open(const Options& options,
                                                                   const LabProgram& program,
                                                                   Watchdog& watchdog);

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const course::Lab& lab() const { return lab_; }
  [[nodiscard]] const LabProgram& program() const { return program_; }
  /// Where the student's kernels run.
  [[nodiscard]] const Device& device() const { return device_; }
  [[nodiscard]] const DeviceKernels& kernels() const { return kernels_; }
  /// Where the reference's run: the same but in a graded run.
  [[nodiscard]] const Device& reference_device() const { return reference_device_; }
  [[nodiscard]] const DeviceKernels& reference_kernels() const {
    return reference_kernels_ ? *reference_kernels_ : kernels_;
  }
  [[nodiscard]] const Seeds& seeds() const { return seeds_; }
  [[nodiscard]] const Launcher& student() const { return student_launcher_; }
  [[nodiscard]] const Launcher& reference() const { return reference_launcher_; }
  /// Null where the reference is run.
  [[nodiscard]] const ReferenceTimes* known_times() const { return known_ ? &*known_ : nullptr; }
  [[nodiscard]] Watchdog& watchdog() { return watchdog_; }
  [[nodiscard]] ClockReader& clocks() { return clocks_; }
  [[nodiscard]] Ceilings& ceilings() { return ceilings_; }

  /// The stages asked for, in teaching order.
  [[nodiscard]] std::vector<course::Stage> stages() const;
  /// The cases of `stage` for --size or for the first of its sizes that fits a quarter of the
  /// device's memory.
  [[nodiscard]] std::vector<TimedCase> timed_cases(const course::Stage& stage) const;
  /// The size that timed_cases() takes.
  [[nodiscard]] std::vector<std::int64_t> timed_size(const course::Stage& stage) const;
  /// How long one launch may take; more on the virtual GPU, which computes every thread.
  [[nodiscard]] double timeout_seconds(const course::Stage& stage) const;

 private:
  Session(const Options& options, const LabProgram& program, Watchdog& watchdog, course::Lab lab,
          Device device, Device reference_device, Submission student, Submission reference,
          DeviceKernels kernels, std::optional<DeviceKernels> reference_kernels,
          std::optional<ReferenceTimes> known);

  const Options& options_;
  const LabProgram& program_;
  Watchdog& watchdog_;
  course::Lab lab_;
  Device device_, reference_device_;
  Submission student_, reference_;  // the latter without kernels where its times are known
  DeviceKernels kernels_;
  std::optional<DeviceKernels> reference_kernels_;  // none where the two devices are one
  std::optional<ReferenceTimes> known_;
  Seeds seeds_;
  Launcher student_launcher_, reference_launcher_;
  ClockReader clocks_;
  Ceilings ceilings_;
};

}  // namespace membound::harness
