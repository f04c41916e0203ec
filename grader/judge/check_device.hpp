// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The device of a check, and what differs between a GPU and a virtual one.
/// Place in the chain: device_choice -> [check_device] -> tools, judge, queue, selftest. Left out:
/// which one it is to be.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/split_run.hpp"

namespace membound::judge {

/// There are two: gpu_device.cpp and vgpu_device.cpp.
class DeviceKind {
 public:
  virtual ~DeviceKind() = default;

  /// What results call the device `name` beside the name that its runtime gives; empty: nothing.
  [[nodiscard]] virtual std::string virtual_name(const std::string& name) const = 0;
  [[nodiscard]] virtual bool runs_code_of(compilers::DeviceCompiler compiler) const = 0;
  /// What every test program is told besides.
  [[nodiscard]] virtual std::vector<std::string> test_arguments() const = 0;
  /// Backstop for a test program that reports nothing: of a student's check, and of a graded one.
  [[nodiscard]] virtual double seconds_per_stage() const = 0;
  [[nodiscard]] virtual double graded_seconds_per_stage() const = 0;
  /// How many stages can run side by side without changing each other's times.
  [[nodiscard]] virtual int stages_at_once() const = 0;
  /// Whether a failure can be run again with checkers on.
  [[nodiscard]] virtual bool has_checkers() const = 0;
  /// Whether it counts what a bar on counters is held against.
  [[nodiscard]] virtual bool counts() const = 0;
  /// Whether it records when each call of a host program began and ended.
  [[nodiscard]] virtual bool tells_timeline() const = 0;
  /// Whether a check times the work of programs on it, with events (program_times).
  [[nodiscard]] virtual bool times_programs() const = 0;
  /// Whether the same launch takes the same time whenever and beside whatever it runs.
  [[nodiscard]] virtual bool predicts_times() const = 0;
  /// Files of `build` that stand for the device: a verdict depends on them.
  [[nodiscard]] virtual std::vector<std::filesystem::path> parts(
      const std::filesystem::path& build) const = 0;
  /// Whether a submission can leave it in a state in which it serves nobody.
  [[nodiscard]] virtual bool can_be_hurt() const = 0;
  /// Adds what runners of a graded run of `stages` stages on `device` may use, with runtime folders
  /// there already.
  [[nodiscard]] virtual base::Status equip(SplitOptions& split, const struct Device& device,
                                           int stages, double seconds_per_stage) const = 0;
};

/// A device as a check uses it.
struct Device {
  std::string name;                                ///< "gpu" or "vgpu:h200"
  std::map<std::string, std::string> environment;  ///< chooses it, and says how it looks on
  const DeviceKind* kind;
  /// For DeviceLock; empty where every process has a device for itself.
  std::filesystem::path lock_file = {};
  /// N of its /dev/nvidiaN, so that a jail shows no other; -1: not known, or not a GPU.
  int gpu_number = -1;
};

/// The first GPU of this machine, whether or not there is one.
[[nodiscard]] Device real_gpu();
/// The virtual GPU of `build`, whether or not it is built, imitating `model`.
[[nodiscard]] Device virtual_gpu(const std::string& model, const std::filesystem::path& build);

/// `<build>/vgpu`, the folder of the virtual GPU's libcudart.so.13.
[[nodiscard]] std::filesystem::path vgpu_folder(const std::filesystem::path& build);

}  // namespace membound::judge
