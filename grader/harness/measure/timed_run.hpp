// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The buffers of a timed case, and one timed run on them.
/// Place in the chain: timing -> [timed_run] -> launcher, device_kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "grader/harness/measure/outside_clock.hpp"
#include "grader/harness/measure/timing.hpp"

namespace membound::harness {

/// Device memory of one case. In a student's check, student and reference use the same inputs and
/// the same output buffer, so that addresses are no difference between them. In a graded run each
/// has its own, on its own device: the reference's output is never where the student's code runs.
/// Where the reference's times are known there is only the student's, and its output is held
/// against the lab's own answer, computed here.
class TimedRun {
 public:
  TimedRun(const TimingBench& bench, const TimingRequest& request);

  /// Who launches, and what.
  struct Runner {
    const Launcher& launcher;
    const ReadyLaunch& launch;
    DeviceBuffer scratch;
    bool is_student;
  };
  [[nodiscard]] Runner runner(const Launcher& launcher, const ReadyLaunch& launch,
                              bool is_student) const;

  /// Prepares inputs and output, flushes, launches between two events and waits; nanoseconds.
  [[nodiscard]] double run(const Runner& runner, std::uint64_t seed);
  /// Takes the student's output away for later comparison, or its fingerprint.
  void keep_output();
  /// Compares what was kept with the reference's output there now.
  [[nodiscard]] Difference compare_kept();
  /// What was wrong with a run beside its result: work done after the end, inputs changed. Empty
  /// where nothing was; only a graded run looks.
  [[nodiscard]] const std::string& suspicion() const { return suspicion_; }
  /// Time between two events with nothing between them.
  [[nodiscard]] double event_overhead_ns();

  /// Runs of the student between two looks at our own clock, and of nothing in its place.
  [[nodiscard]] OutsideSamples time_from_outside(const Runner& runner, std::uint64_t seed);

 private:
  /// One device's share.
  struct Side {
    const Device& device;
    const DeviceKernels& kernels;
    std::vector<DeviceBuffer> inputs;
    std::vector<void*> d_inputs;
    DeviceBuffer output;
    std::unique_ptr<EventTimer> timer;  // made while the device was current
  };
  /// Of an array written before the key was drawn.
  struct Fingerprints {
    std::uint64_t key = 0, output = 0, inputs = 0;
  };

  [[nodiscard]] Side make_side(const Device& device, const DeviceKernels& kernels) const;
  [[nodiscard]] bool is_split() const { return reference_side_.has_value(); }
  [[nodiscard]] Side& side_of(bool is_student) {
    return is_student || !reference_side_ ? student_side_ : *reference_side_;
  }
  void prepare(const Side& side, std::uint64_t seed);
  [[nodiscard]] cudaError_t launch_between_events(const Runner& runner, Side& side) const;
  [[nodiscard]] Fingerprints fingerprints(const Side& side, std::uint64_t key) const;
  [[nodiscard]] Difference compare_on_reference_device();
  [[nodiscard]] bool is_known() const { return bench_.known != nullptr; }
  [[nodiscard]] Difference compare_with_expected();

  const TimingBench& bench_;
  const TimingRequest& request_;
  Side student_side_;
  DeviceBuffer kept_;  // on the reference's device
  std::optional<Side> reference_side_;
  Fingerprints student_prints_;
  std::vector<HostArray> drawn_;  // where times are known: the inputs,
  HostArray output_after_;        // and what the launch left behind
  std::vector<HostArray> inputs_after_;
  std::string suspicion_;
};

}  // namespace membound::harness
