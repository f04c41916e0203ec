// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Where a submission is timed beside its reference. Chosen once, by make_bench():
///   one process       a student's check: both run here, on the same buffers
///   in the sandbox    graded: each in a runner of its own; the answer is never where the
///                     student's code runs
///   with known times  graded on a virtual GPU: only the student's kernels run
/// Predicted times are the same every time, so that a class need not pay for the reference's with
/// every submission. A file of them is only a number to divide by: outputs are held against the
/// lab's own TimedCase::expected on fresh inputs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"
#include "grader/harness/cases/data.hpp"
#include "grader/harness/device/device.hpp"
#include "grader/harness/device/device_kernels.hpp"
#include "grader/harness/device/launcher.hpp"
#include "grader/harness/device/watchdog.hpp"
#include "grader/harness/measure/ceiling.hpp"
#include "grader/harness/measure/clocks.hpp"
#include "grader/harness/measure/timed_run.hpp"

namespace membound::harness {

/// Of the reference answer of one stage on one timed case.
struct ReferenceTime {
  double time_ns = 0;       ///< 0: it cannot be sampled; its counters say why
  double ceiling = 0;       ///< as course::Timing::ceiling
  nlohmann::json counters;  ///< what the virtual GPU counted, without our own kernels
};

/// All stages of a lab at the sizes that are graded.
class ReferenceTimes {
 public:
  static constexpr const char* kSchema = "membound-reference-times/2";

  std::string lab;
  std::string device;  ///< DeviceInfo::virtual_name, which names a slice, too
  /// Why these must not be used instead of a run beside each submission; empty: they may.
  std::string unusable;

  void add(int stage, const std::string& label, bool sampled, ReferenceTime time);
  /// Null where that case was not timed, as a whole or by some of its blocks.
  [[nodiscard]] const ReferenceTime* find(int stage, const std::string& label, bool sampled) const;

  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static base::Result<ReferenceTimes> from_text(const std::string& text,
                                                              const std::string& file_name);

 private:
  std::map<std::tuple<int, std::string, bool>, ReferenceTime> times_;
};

/// Reads what to_text() wrote.
[[nodiscard]] base::Result<ReferenceTimes> read_reference_times(const std::filesystem::path& file);

/// What all cases of a program share.
struct BenchParts {
  const Device& device;
  const DeviceKernels& kernels;
  const Device& reference_device;  ///< the same two but in the sandbox
  const DeviceKernels& reference_kernels;
  const Seeds& seeds;
  const Launcher& student;
  const Launcher& reference;
  Watchdog& watchdog;
  ClockReader& clocks;
  Ceilings& ceilings;
  /// Chooses the blocks that stand for all in sampled runs, the same in each, so that times taken
  /// once for a class are of the same blocks. Nothing: each run's seed chooses them.
  std::optional<std::uint64_t> sample_seed = {};
};

/// All functions throw ReferenceError.
class Bench {
 public:
  explicit Bench(const BenchParts& parts) : parts_(parts) {}
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  [[nodiscard]] const BenchParts& parts() const { return parts_; }
  /// Makes the buffers of a case; `student` is what its student's runs launch.
  [[nodiscard]] virtual std::unique_ptr<TimedRun> start(const TimingRequest& request,
                                                        ReadyLaunch student) const = 0;
  /// Time of the stage's reference answer alone: a median, or what is known of it. 0 where it was
  /// to be sampled and cannot be.
  [[nodiscard]] virtual double time_reference(const TimingRequest& request) const;
  /// What the device reaches at best in such a case: bytes or operations per second.
  [[nodiscard]] virtual double ceiling(const TimingRequest& request) const;

 private:
  BenchParts parts_;
};

/// The bench of a test program. `known` may be null and must outlive it: what the reference takes;
/// then the reference has no device, and both names in `parts` are the student's.
[[nodiscard]] std::unique_ptr<Bench> make_bench(const BenchParts& parts,
                                                const ReferenceTimes* known);

}  // namespace membound::harness
