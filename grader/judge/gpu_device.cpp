// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include "grader/judge/check_device.hpp"
#include "grader/judge/gpus.hpp"
#include "grader/judge/runner_rules.hpp"

namespace membound::judge {
namespace {

/// Measures by a clock, and serves one at a time.
class Gpu : public DeviceKind {
 public:
  [[nodiscard]] std::string virtual_name(const std::string& /*name*/) const override { return ""; }
  [[nodiscard]] bool runs_code_of(compilers::DeviceCompiler compiler) const override {
    return compiler == compilers::DeviceCompiler::kNvcc;
  }
  [[nodiscard]] std::vector<std::string> test_arguments() const override { return {}; }
  [[nodiscard]] double seconds_per_stage() const override { return 180; }
  [[nodiscard]] double graded_seconds_per_stage() const override { return 180; }
  [[nodiscard]] int stages_at_once() const override { return 1; }
  [[nodiscard]] bool has_checkers() const override { return false; }
  [[nodiscard]] bool counts() const override { return false; }
  [[nodiscard]] bool tells_timeline() const override { return false; }
  [[nodiscard]] bool times_programs() const override { return true; }
  [[nodiscard]] bool predicts_times() const override { return false; }
  [[nodiscard]] std::vector<std::filesystem::path> parts(
      const std::filesystem::path& /*build*/) const override {
    return {};
  }
  [[nodiscard]] bool can_be_hurt() const override { return true; }

  [[nodiscard]] base::Status equip(SplitOptions& split, const Device& device, int stages,
                                   double seconds_per_stage) const override {
    split.limits = runner_limits(stages, seconds_per_stage);
    // A GPU's runner spins while it waits: its CPU time is its wall time.
    split.limits.cpu_seconds = split.limits.wall_seconds;
    auto folders = gpu_library_folders(split.runner);
    if (!folders) return folders.error();
    split.runtime_folders.insert(split.runtime_folders.end(), folders->begin(), folders->end());
    split.devices = gpu_nodes("/dev", device.gpu_number);
    split.scrub = true;
    return base::Done{};
  }
};

/// The same for every process that means the same GPU.
std::filesystem::path gpu_lock(const std::string& uuid) {
  std::error_code error;
  return std::filesystem::temp_directory_path(error) /
         ("membound-gpu" + (uuid.empty() ? "" : "-" + uuid) + ".lock");
}

}  // namespace

Device real_gpu() {
  static const Gpu kind;
  return {"gpu", {}, &kind, gpu_lock("")};
}

std::vector<Device> devices_of(const std::vector<GpuFacts>& gpus) {
  std::vector<Device> devices;
  for (const GpuFacts& gpu : gpus) {
    Device device = real_gpu();
    device.gpu_number = gpu.number;
    if (!gpu.uuid.empty()) device.lock_file = gpu_lock(gpu.uuid);
    // Alone it is what every process finds; that also holds for what has no such name.
    if (gpu.is_one_of_several) device.environment["CUDA_VISIBLE_DEVICES"] = gpu.uuid;
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace membound::judge
