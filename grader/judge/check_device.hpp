// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The device of a check: which GPUs and virtual GPUs this machine has, which of them a command
/// line means, and what differs between a GPU and a virtual one.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/course/lab.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/judge/gpu_facts.hpp"
#include "grader/judge/sandboxed_run.hpp"

namespace membound::judge {

/// There are two: of GPUs and of virtual ones.
class DeviceKind {
 public:
  virtual ~DeviceKind() = default;

  /// What results call the device `name` beside the name that its runtime gives; empty: nothing.
  [[nodiscard]] virtual std::string virtual_name(const std::string& name) const = 0;
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
  /// Whether a check times the work of programs on it, with events (time_programs).
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
  [[nodiscard]] virtual base::Status equip(SandboxOptions& sandbox, const struct Device& device,
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
  /// Which GPU of this machine cannot serve, why, and what is used instead; empty: none.
  std::string instead = {};
  /// What a GPU's code is compiled for; nothing of a virtual one, and where a GPU was not asked.
  compilers::CodeTarget target = {};
};

/// The first GPU of this machine, whether or not there is one, with the programs of `build`.
[[nodiscard]] Device real_gpu(const std::filesystem::path& build = {});
/// The virtual GPU of `build`, whether or not it is built, imitating `model`.
[[nodiscard]] Device virtual_gpu(const std::string& model, const std::filesystem::path& build);

/// `<build>/vgpu`, the folder of the virtual GPU's libcudart.so.13.
[[nodiscard]] std::filesystem::path vgpu_folder(const std::filesystem::path& build);

/// The GPUs that `wanted` means: all for "gpu", the first and the third for "gpu:0,2".
[[nodiscard]] base::Result<std::vector<GpuFacts>> chosen_gpus(const std::string& wanted,
                                                              const std::vector<GpuFacts>& gpus);

/// A device for each, with the programs of `build`, of a driver that supports CUDA `driver_cuda`.
[[nodiscard]] std::vector<Device> devices_of(const std::vector<GpuFacts>& gpus,
                                             const std::filesystem::path& build = {},
                                             int driver_cuda = 0);

inline constexpr const char* kDefaultModel = "h200";

/// Whether the virtual GPU is built.
[[nodiscard]] bool has_vgpu(const std::filesystem::path& build);

/// `wanted` is "", "gpu", "gpu:0,2", "vgpu" or "vgpu:MODEL". The default are the GPUs that have
/// what a check needs; where one has not, the virtual model nearest to it if that is built; where
/// there is none, vgpu:h200. A MODEL is one of `membound machine list`. `no_gpu` is the answer of a
/// command that has no use for a GPU, where it would be one. At least one. `answer` is what the
/// driver says; nothing: it is asked.
[[nodiscard]] base::Result<std::vector<Device>> choose_devices(
    const std::string& wanted, const std::filesystem::path& build,
    const std::optional<base::Error>& no_gpu = {}, const std::optional<GpuAnswer>& answer = {});

/// The first of them.
[[nodiscard]] base::Result<Device> choose_device(const std::string& wanted,
                                                 const std::filesystem::path& build,
                                                 const std::optional<base::Error>& no_gpu = {});

}  // namespace membound::judge
