// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "grader/base/process.hpp"
#include "grader/judge/check_device.hpp"
#include "grader/judge/runner_rules.hpp"

namespace membound::judge {
namespace {

/// The reference answers of a whole lab take 1 to 10 s of CPU time.
constexpr double kCpuSecondsPerStage = 60;

/// Predicts its times, and every process has one for itself.
class VirtualGpu : public DeviceKind {
 public:
  [[nodiscard]] std::string virtual_name(const std::string& name) const override { return name; }
  [[nodiscard]] bool runs_code_of(compilers::DeviceCompiler /*compiler*/) const override {
    return true;
  }
  [[nodiscard]] std::vector<std::string> test_arguments() const override { return {"--counters"}; }
  // It computes every thread on the CPU, which may be busy with other work.
  [[nodiscard]] double seconds_per_stage() const override { return 1200; }
  [[nodiscard]] double graded_seconds_per_stage() const override { return 300; }
  [[nodiscard]] int stages_at_once() const override { return static_cast<int>(base::processors()); }
  [[nodiscard]] bool has_checkers() const override { return true; }
  [[nodiscard]] bool counts() const override { return true; }
  [[nodiscard]] bool tells_timeline() const override { return true; }
  [[nodiscard]] bool times_programs() const override { return false; }
  [[nodiscard]] bool predicts_times() const override { return true; }
  [[nodiscard]] std::vector<std::filesystem::path> parts(
      const std::filesystem::path& build) const override {
    return {vgpu_folder(build) / "libcudart.so.13"};
  }
  [[nodiscard]] bool can_be_hurt() const override { return false; }

  [[nodiscard]] base::Status equip(SplitOptions& split, const Device& /*device*/, int stages,
                                   double seconds_per_stage) const override {
    split.limits = runner_limits(stages, seconds_per_stage);
    split.limits.cpu_seconds = stages * kCpuSecondsPerStage;
    return base::Done{};
  }
};

}  // namespace

std::filesystem::path vgpu_folder(const std::filesystem::path& build) { return build / "vgpu"; }

Device virtual_gpu(const std::string& model, const std::filesystem::path& build) {
  static const VirtualGpu kind;
  std::string path = vgpu_folder(build).string();
  if (const char* old = std::getenv("LD_LIBRARY_PATH"); old != nullptr && *old != '\0')
    path += std::string(":") + old;
  const std::string name = "vgpu:" + model;
  // Whatever the caller's own environment says: who looks on at all blocks keeps a launch from
  // being timed by some of them, which is another size and another verdict.
  return {name,
          {{"LD_LIBRARY_PATH", path},
           {"MEMBOUND_DEVICE", name},
           {"MEMBOUND_CHECK", "none"},
           {"MEMBOUND_TRACE", "off"}},
          &kind};
}

}  // namespace membound::judge
