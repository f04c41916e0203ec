// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The buffers of a timed case, and one timed run on them.
/// Place in the chain: timing -> [timed_run] -> launcher, device_kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "grader/harness/timing.hpp"

namespace membound::harness {

/// Device memory of one case. Student and reference use the same inputs and the same output buffer,
/// so that addresses are no difference between them.
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
  /// Takes the output away for later comparison.
  void keep_output();
  /// Compares the kept output with the one there now.
  [[nodiscard]] Difference compare_kept() const;
  /// Time between two events with nothing between them.
  [[nodiscard]] double event_overhead_ns();

 private:
  void prepare(std::uint64_t seed) const;

  const TimingBench& bench_;
  const TimingRequest& request_;
  std::vector<DeviceBuffer> inputs_;
  std::vector<void*> d_inputs_;
  DeviceBuffer output_, kept_;
  EventTimer timer_;
};

}  // namespace membound::harness
