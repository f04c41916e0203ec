// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What tells whether a time can be believed: the SM clock and why it is throttled, through the
/// driver's management library (NVML), which is loaded at run time; and the judge's own clock
/// around the same launches. Events are written to memory of the process that runs the student's
/// kernels; a kernel that finds them can make itself look fast.
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

/// Seen from outside: launches with the work between two events, and the same with launches that do
/// nothing in its place, which leaves what messages and queues cost.
struct OutsideSamples {
  std::vector<double> work_wall_ns, nothing_wall_ns, nothing_event_ns;
};

/// What the two clocks say.
struct ClockComparison {
  double outside_ns = 0;    ///< median of the work seen from outside, less the cost of the way
  double tolerance_ns = 0;  ///< max(5 % of the events' time, 3 sigma, 10 us)
  bool agrees = true;
};

/// `event_ns` are the device's times of the runs that count.
[[nodiscard]] ClockComparison compare_clocks(const std::vector<double>& event_ns,
                                             const OutsideSamples& samples);

/// "the device says 12.3 us, …": why a run is suspicious.
[[nodiscard]] std::string disagreement_text(double event_ns, const ClockComparison& comparison);

}  // namespace membound::harness
