// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/check_device.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <vector>

#include "grader/base/files.hpp"
#include "grader/base/process.hpp"
#include "grader/base/strings.hpp"
#include "grader/judge/sandboxed_run.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::judge {
namespace {

/// Measures by a clock, and serves one at a time.
class Gpu : public DeviceKind {
 public:
  [[nodiscard]] std::string virtual_name(const std::string& /*name*/) const override { return ""; }
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

  [[nodiscard]] base::Status equip(SandboxOptions& sandbox, const Device& device, int stages,
                                   double seconds_per_stage) const override {
    sandbox.limits = runner_limits(stages, seconds_per_stage);
    // A GPU's runner spins while it waits: its CPU time is its wall time.
    sandbox.limits.cpu_seconds = sandbox.limits.wall_seconds;
    auto folders = gpu_library_folders(sandbox.runner);
    if (!folders) return folders.error();
    sandbox.runtime_folders.insert(sandbox.runtime_folders.end(), folders->begin(), folders->end());
    sandbox.devices = gpu_nodes("/dev", device.gpu_number);
    sandbox.scrub = true;
    return base::Done{};
  }
};

/// The same for every process that means the same GPU.
std::filesystem::path gpu_lock(const std::string& uuid) {
  std::error_code error;
  return std::filesystem::temp_directory_path(error) /
         ("membound-gpu" + (uuid.empty() ? "" : "-" + uuid) + ".lock");
}

/// With one of our runtimes before whatever the caller's own search path has.
std::string search_path_with(const std::filesystem::path& folder) {
  const char* const old = std::getenv("LD_LIBRARY_PATH");
  return folder.string() + (old != nullptr && *old != '\0' ? std::string(":") + old : "");
}

}  // namespace

Device real_gpu(const std::filesystem::path& build) {
  static const Gpu kind;
  Device device{"gpu", {}, &kind, gpu_lock("")};
  if (!build.empty()) device.environment["LD_LIBRARY_PATH"] = search_path_with(build / "gpu");
  return device;
}

std::vector<Device> devices_of(const std::vector<GpuFacts>& gpus,
                               const std::filesystem::path& build, int driver_cuda) {
  std::vector<Device> devices;
  for (const GpuFacts& gpu : gpus) {
    Device device = real_gpu(build);
    device.target = {gpu.capability, driver_cuda};
    device.gpu_number = gpu.number;
    if (!gpu.uuid.empty()) device.lock_file = gpu_lock(gpu.uuid);
    // Alone it is what every process finds; that also holds for what has no such name.
    if (gpu.is_one_of_several) device.environment["CUDA_VISIBLE_DEVICES"] = gpu.uuid;
    devices.push_back(std::move(device));
  }
  return devices;
}

namespace {

/// The reference answers of a whole lab take 1 to 10 s of CPU time.
constexpr double kCpuSecondsPerStage = 60;

/// Predicts its times, and every process has one for itself.
class VirtualGpu : public DeviceKind {
 public:
  [[nodiscard]] std::string virtual_name(const std::string& name) const override { return name; }
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

  [[nodiscard]] base::Status equip(SandboxOptions& sandbox, const Device& /*device*/, int stages,
                                   double seconds_per_stage) const override {
    sandbox.limits = runner_limits(stages, seconds_per_stage);
    sandbox.limits.cpu_seconds = stages * kCpuSecondsPerStage;
    return base::Done{};
  }
};

}  // namespace

std::filesystem::path vgpu_folder(const std::filesystem::path& build) { return build / "vgpu"; }

Device virtual_gpu(const std::string& model, const std::filesystem::path& build) {
  static const VirtualGpu kind;
  const std::string name = "vgpu:" + model;
  // Whatever the caller's own environment says: who looks on at all blocks keeps a launch from
  // being timed by some of them, which is another size and another verdict.
  return {name,
          {{"LD_LIBRARY_PATH", search_path_with(vgpu_folder(build))},
           {"MEMBOUND_DEVICE", name},
           {"MEMBOUND_CHECK", "none"},
           {"MEMBOUND_TRACE", "off"}},
          &kind};
}

namespace {

namespace fs = std::filesystem;

std::string list_of(const std::vector<GpuFacts>& gpus) {
  std::string list;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(i) + " (" + gpus[i].name + ")";
  return list;
}

}  // namespace

base::Result<std::vector<GpuFacts>> chosen_gpus(const std::string& wanted,
                                                const std::vector<GpuFacts>& gpus) {
  if (wanted == "gpu") return gpus;
  const auto refused = [&](const std::string& found) {
    return base::Error{base::ErrorKind::kUsage, "--device " + wanted, found,
                       "numbers of GPUs after gpu: and commas between, as in gpu:0,1",
                       "here are " + list_of(gpus)};
  };
  std::vector<GpuFacts> chosen;
  std::set<std::size_t> seen;
  const char* at = wanted.data() + std::string_view("gpu:").size();
  const char* const end = wanted.data() + wanted.size();
  while (true) {
    std::size_t number = 0;
    const auto [stopped, failure] = std::from_chars(at, end, number);
    if (failure != std::errc()) return refused("holds no number where one should be");
    if (number >= gpus.size()) return refused("there is no GPU " + std::to_string(number));
    if (!seen.insert(number).second)
      return refused("names GPU " + std::to_string(number) + " twice");
    chosen.push_back(gpus[number]);
    if (stopped == end) return chosen;
    if (*stopped != ',') return refused("has something other than a comma after a number");
    at = stopped + 1;
  }
}

namespace {

constexpr const char* kLibrary = "libcudart.so.13";

base::Error no_vgpu(const fs::path& build) {
  return {base::ErrorKind::kMachine, "virtual GPU", "not built",
          (vgpu_folder(build) / kLibrary).string(),
          "start with ./membound, which builds what is missing; or --device gpu"};
}

/// A device that is none, or a virtual one whose machine is not known.
base::Error unknown_device(const std::string& wanted) {
  std::vector<std::string> names = {"gpu", "gpu:0,1", "vgpu"};
  for (const auto& file : vgpu::timing::machine_files(vgpu::timing::own_machines_folder()))
    names.push_back("vgpu:" + file.id);
  const std::string list = base::joined(names);
  const auto nearest = base::nearest(wanted, names);
  return {base::ErrorKind::kUsage, "--device", "there is no device \"" + wanted + "\"", list,
          nearest ? "did you mean \"" + *nearest + "\"?" : ""};
}

base::Result<Device> built_vgpu(const std::string& model, const fs::path& build) {
  const auto file = vgpu::timing::find_machine_file(model, vgpu::timing::own_machines_folder());
  if (!file) return unknown_device("vgpu:" + model);
  const auto machine = vgpu::timing::machine_of(*file);
  if (!machine) return machine.error();
  if (!has_vgpu(build)) return no_vgpu(build);
  Device device = virtual_gpu(model, build);
  // A runner in its jail may not read the user's folders.
  if (!file->built_in) device.environment["MEMBOUND_MACHINE"] = file->json;
  return device;
}

}  // namespace

bool has_vgpu(const fs::path& build) {
  std::error_code error;
  return fs::exists(vgpu_folder(build) / kLibrary, error);
}

namespace {

/// "Tesla T4 cannot serve: driver 470.57.02 for CUDA 11.4, and driver 525 or newer … is needed".
std::string cannot_serve(const GpuFacts& gpu, const GpuNeed& need) {
  return gpu.name + " cannot serve: " + need.found + ", and " + need.needed + " is needed";
}

base::Error no_gpu_serves(const std::string& wanted, const std::string& found,
                          const std::string& mend) {
  return {base::ErrorKind::kMachine, wanted.empty() ? "" : "--device " + wanted, found,
          "an NVIDIA GPU of Pascal's generation or later, with its driver", mend};
}

/// What is used where no GPU was named.
base::Result<std::vector<Device>> default_devices(const fs::path& build,
                                                  const std::optional<base::Error>& no_gpu,
                                                  const GpuAnswer& answer) {
  std::vector<GpuFacts> serving;
  std::string instead, model = kDefaultModel, mend = "membound doctor";
  for (const GpuFacts& gpu : answer.gpus) {
    const auto need = unmet_need(gpu, answer);
    if (!need) serving.push_back(gpu);
    if (!need || !instead.empty()) continue;
    instead = cannot_serve(gpu, *need);
    model = nearest_model(gpu);
    mend = need->mend;
  }
  if (!serving.empty() && no_gpu) return *no_gpu;
  if (!serving.empty()) {
    std::vector<Device> devices = devices_of(serving, build, answer.cuda);
    if (!instead.empty()) devices.front().instead = instead + "; the others do";
    return devices;
  }
  // Who hid the GPUs knows why there is none.
  if (!answer.answers && answer.has_device && std::getenv("CUDA_VISIBLE_DEVICES") == nullptr)
    instead = "the GPU cannot serve: " + answer.problem;
  if (!has_vgpu(build))
    return no_gpu_serves("",
                         (instead.empty() ? "no GPU answers (" + answer.problem + ")" : instead) +
                             "; the virtual GPU is not built",
                         mend);
  auto device = built_vgpu(model, build);
  if (!device) return device.error();
  if (!instead.empty()) device->instead = instead + "; " + device->name + " takes its place";
  return std::vector<Device>{*std::move(device)};
}

/// The GPUs that the command line names, of which each must serve.
base::Result<std::vector<Device>> named_gpus(const std::string& wanted, const fs::path& build,
                                             const GpuAnswer& answer) {
  if (!answer.answers)
    return no_gpu_serves(wanted, "no GPU answers: " + answer.problem,
                         "--device vgpu, or membound doctor");
  const auto chosen = chosen_gpus(wanted, answer.gpus);
  if (!chosen) return chosen.error();
  for (const GpuFacts& gpu : *chosen)
    if (const auto need = unmet_need(gpu, answer))
      return no_gpu_serves(wanted, cannot_serve(gpu, *need),
                           need->mend + "; or --device vgpu:" + nearest_model(gpu));
  return devices_of(*chosen, build, answer.cuda);
}

}  // namespace

base::Result<std::vector<Device>> choose_devices(const std::string& wanted, const fs::path& build,
                                                 const std::optional<base::Error>& no_gpu,
                                                 const std::optional<GpuAnswer>& answer) {
  if (wanted.empty()) return default_devices(build, no_gpu, answer ? *answer : ask_gpu());
  if (wanted == "gpu" || wanted.starts_with("gpu:")) {
    const GpuAnswer told = answer ? *answer : ask_gpu();
    if (told.answers && no_gpu) return *no_gpu;
    return named_gpus(wanted, build, told);
  }
  const std::string model = wanted == "vgpu"              ? kDefaultModel
                            : wanted.starts_with("vgpu:") ? wanted.substr(5)
                                                          : "";
  if (model.empty()) return unknown_device(wanted);
  auto device = built_vgpu(model, build);
  if (!device) return device.error();
  return std::vector<Device>{*std::move(device)};
}

base::Result<Device> choose_device(const std::string& wanted, const fs::path& build,
                                   const std::optional<base::Error>& no_gpu) {
  auto all = choose_devices(wanted, build, no_gpu);
  if (!all) return all.error();
  return std::move(all->front());
}

}  // namespace membound::judge
