// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Times several ways to compute one result, in turn, on the same data: one round gives every
/// contestant one run, in random order, and compares what they wrote.
/// Place in the chain: main, groups -> [contest] -> harness. Left out: what is compared (groups).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/event_timer.hpp"

namespace membound::authoring {

/// What a contestant is to the others.
enum class Role {
  kStage,       ///< a reference answer
  kLibrary,     ///< what a user would call instead
  kCeiling,     ///< what the device reaches at best
  kExperiment,  ///< another computation of the same shape; its result is its own
};

/// "stage", "library", "ceiling", "experiment"
[[nodiscard]] std::string to_string(Role role);

/// The arrays of a group. Every run finds fresh inputs and a poisoned output.
struct Arrays {
  std::vector<void*> d_inputs;
  void* d_output = nullptr;
};

/// One way to compute the result.
struct Contestant {
  std::string name;
  Role role = Role::kStage;
  std::string seed_figure;     ///< what a seed of the course reports for it, with the GPU; or empty
  bool zeroed_output = false;  ///< adds to the output: it starts at 0
  double amount = 0;           ///< bytes or operations of one run
  std::function<void(const Arrays&)> launch;  ///< queues on the default stream
};

/// Contestants that are compared with each other.
struct Group {
  std::string title;
  std::string unit;               ///< "GB/s" or "Tops/s"
  harness::TimedCase timed_case;  ///< buffers and tolerance; sizes and arguments are not used
  std::vector<Contestant> contestants;
  std::vector<std::shared_ptr<const void>> owned;  ///< what the contestants refer to
};

/// A contestant's times.
struct Outcome {
  std::vector<double> times_ns;  ///< one per round
  double median_ns = 0;
  double low_ns = 0;  ///< the true median lies between the two with 95 % confidence
  double high_ns = 0;
  double rate = 0;     ///< amount per nanosecond at the median: GB/s, or Gops/s
  int wrong_runs = 0;  ///< runs whose result differed from the first contestant's
};

/// Runs `rounds` rounds and one before them that does not count. Throws harness::CudaError.
[[nodiscard]] std::vector<Outcome> hold(const Group& group, const harness::DeviceKernels& kernels,
                                        int rounds, std::uint64_t seed);

}  // namespace membound::authoring
