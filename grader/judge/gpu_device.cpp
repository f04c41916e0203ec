// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include <system_error>

#include "grader/judge/check_device.hpp"
#include "grader/judge/runner_rules.hpp"

namespace membound::judge {
namespace {

/// Measures by a clock, and there is one of it.
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
  [[nodiscard]] const course::GradedSlice* graded_slice(const course::Lab& /*lab*/) const override {
    return nullptr;
  }
  [[nodiscard]] std::vector<std::filesystem::path> parts(
      const std::filesystem::path& /*build*/) const override {
    return {};
  }
  [[nodiscard]] std::filesystem::path lock_file() const override {
    std::error_code error;
    return std::filesystem::temp_directory_path(error) / "membound-gpu.lock";
  }
  [[nodiscard]] bool can_be_hurt() const override { return true; }

  [[nodiscard]] base::Status equip(SplitOptions& split, int stages,
                                   double seconds_per_stage) const override {
    split.limits = runner_limits(stages, seconds_per_stage);
    // A GPU's runner spins while it waits: its CPU time is its wall time.
    split.limits.cpu_seconds = split.limits.wall_seconds;
    auto folders = gpu_library_folders(split.runner);
    if (!folders) return folders.error();
    split.runtime_folders.insert(split.runtime_folders.end(), folders->begin(), folders->end());
    split.devices = gpu_nodes();
    split.scrub = true;
    return base::Done{};
  }
};

}  // namespace

Device real_gpu() {
  static const Gpu kind;
  return {"gpu", {}, &kind};
}

}  // namespace membound::judge
