// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The GPU the test program runs on, real or virtual: its facts and limits, how often something is
/// timed on it, and what else differs between the two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/measurement.hpp"
#include "grader/harness/cases/timed_case.hpp"
#include "grader/harness/device/launch_validator.hpp"

namespace membound::harness {

/// How often something is timed on a device, and what its times may be held against: one row for
/// each kind of device (device.cpp).
struct TimingRules {
  int warm_up_pairs;          ///< of student and reference, before those that count
  bool same_every_time;       ///< one pair says all, and a time may be known before a run
  bool random_order;          ///< of student and reference in a pair
  int event_samples;          ///< of the time between two events with nothing between them
  int ceiling_warm_up;        ///< runs before those that count,
  int ceiling_samples;        ///< and those
  int add_min_iterations;     ///< of a thread, for the ceiling of operations
  int reference_warm_up;      ///< where the reference is timed alone: runs before those that count,
  int reference_samples;      ///< and those
  bool bound_by_ceiling;      ///< a kernel that passes it is suspicious; else it is held there
  bool place_matters;         ///< which pages a buffer has changes a time: they are drawn anew
  bool comparable_with_cpus;  ///< times of the CPU beside them say something
};

class DeviceKernels;
class Device;

/// Which blocks of a launch run: those that the seed says, which stand for all; or all, because a
/// launch that is sampled needs what they leave, or because only its results matter.
struct Sampling {
  std::uint64_t seed = 0;
  bool all = false;
  bool counts = true;       ///< false: with `all`, nobody asks what the launch costs
  bool some_warps = false;  ///< of each block, for one that took too many instructions
  /// Only these run, for their results; those of launches before the last all.
  std::optional<BlockRange> only = {};
};

/// While it lives, launches on a device are sampled.
class SampledLaunches {
 public:
  SampledLaunches(const Device& device, std::optional<Sampling> how);
  ~SampledLaunches();
  SampledLaunches(const SampledLaunches&) = delete;
  SampledLaunches& operator=(const SampledLaunches&) = delete;

 private:
  const Device* device_;  // null: nothing was asked for
};

/// What a device says of itself.
struct DeviceFacts {
  int number = 0;
  course::DeviceInfo info = {};
  DeviceLimits limits = {};  ///< without free_bytes
  PlanGpu plan_gpu = {};
};

/// One device of the runtime.
class Device {
 public:
  /// Fails with a text for the user when the runtime does not find it.
  [[nodiscard]] static base::Result<std::unique_ptr<Device>> open(int number);
  explicit Device(DeviceFacts facts) : facts_(std::move(facts)) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  /// What cudaSetDevice takes.
  [[nodiscard]] int number() const { return facts_.number; }
  [[nodiscard]] const course::DeviceInfo& info() const { return facts_.info; }
  /// Limits of any launch; free_bytes as it is now.
  [[nodiscard]] DeviceLimits limits() const;
  /// Shared memory, in bytes, up to which a block may come without the kernel's opt-in.
  [[nodiscard]] std::int64_t shared_bytes_without_opt_in() const {
    return facts_.limits.shared_bytes_without_opt_in;
  }
  /// What LAUNCH_SHAPE sees as `gpu`.
  [[nodiscard]] const PlanGpu& plan_gpu() const { return facts_.plan_gpu; }
  /// Resident warps one SM can hold.
  [[nodiscard]] int warps_per_sm() const { return facts_.plan_gpu.max_threads_per_sm / 32; }

  /// Where its clocks are read: "0000:1a:00.0"; empty for one without clocks.
  [[nodiscard]] virtual std::string pci_bus_id() const = 0;
  [[nodiscard]] virtual const TimingRules& timing_rules() const = 0;
  /// How long one launch of `stage` may take.
  [[nodiscard]] virtual double launch_seconds(const course::Stage& stage) const = 0;
  /// Whether each thread costs time of the host, also one that does nothing.
  [[nodiscard]] virtual bool computes_on_the_host() const = 0;
  /// Whether a launch may go on when the call that waits for it has returned.
  [[nodiscard]] virtual bool outlasts_a_wait() const = 0;
  /// Whether a launch can be timed by some of its blocks.
  [[nodiscard]] virtual bool can_sample() const = 0;
  /// Launches from here on are; without a way to they run whole again.
  virtual void sample_launches(std::optional<Sampling> how) const = 0;
  /// The harness's own kernels of `fatbin` on this device.
  [[nodiscard]] virtual base::Result<std::unique_ptr<DeviceKernels>> load_kernels(
      const std::filesystem::path& fatbin) const = 0;
  /// What was counted in all launches since the last call; null where nothing counts.
  [[nodiscard]] virtual nlohmann::json take_report() const = 0;
  /// Takes it and looks away.
  virtual void forget_report() const = 0;
  /// Ends launches from here on after so many warp instructions, as ones that may never end; 0: no
  /// limit of ours. Only where instructions are counted.
  virtual void limit_steps(std::uint64_t warp_instructions) const = 0;

 private:
  DeviceFacts facts_;
};

}  // namespace membound::harness
