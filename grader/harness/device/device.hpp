// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The GPU the test program runs on, real or virtual: its facts and limits.
/// Place in the chain: session -> [device] -> CUDA runtime. Left out: clocks (clocks.hpp).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "grader/base/result.hpp"
#include "grader/course/measurement.hpp"
#include "grader/harness/cases/launch_plan.hpp"
#include "grader/harness/device/launch_validator.hpp"

namespace membound::harness {

/// One device of the runtime.
class Device {
 public:
  /// Fails with a text for the user when the runtime does not find it.
  [[nodiscard]] static base::Result<Device> open(int number);

  /// What cudaSetDevice takes.
  [[nodiscard]] int number() const { return number_; }

  [[nodiscard]] const course::DeviceInfo& info() const { return info_; }
  /// Whether the virtual GPU stands in for a real one.
  [[nodiscard]] bool is_virtual() const { return !info_.virtual_name.empty(); }
  /// Limits of any launch; free_bytes as it is now.
  [[nodiscard]] DeviceLimits limits() const;
  /// What LAUNCH_SHAPE sees as `gpu`.
  [[nodiscard]] const PlanGpu& plan_gpu() const { return plan_gpu_; }
  /// "0000:1a:00.0"; empty on the virtual GPU.
  [[nodiscard]] const std::string& pci_bus_id() const { return pci_bus_id_; }
  /// Resident warps one SM can hold.
  [[nodiscard]] int warps_per_sm() const { return plan_gpu_.max_threads_per_sm / 32; }

  /// The virtual GPU's report of all launches since the last call; null on a real GPU.
  [[nodiscard]] nlohmann::json take_report() const;
  /// Takes it and looks away.
  void forget_report() const { static_cast<void>(take_report_text()); }

 private:
  [[nodiscard]] std::string take_report_text() const;

  int number_ = 0;
  course::DeviceInfo info_;
  DeviceLimits limits_;
  PlanGpu plan_gpu_{};
  std::string pci_bus_id_;
};

}  // namespace membound::harness
