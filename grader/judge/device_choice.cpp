// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/device_choice.hpp"

#include <algorithm>
#include <system_error>
#include <vector>

#include "grader/base/strings.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

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
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
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

base::Result<std::vector<Device>> choose_devices(const std::string& wanted, const fs::path& build,
                                                 const std::optional<base::Error>& no_gpu) {
  const auto only = [](base::Result<Device> device) -> base::Result<std::vector<Device>> {
    if (!device) return device.error();
    return std::vector<Device>{*std::move(device)};
  };
  const auto gpus = [&](const GpuAnswer& answer,
                        const std::string& which) -> base::Result<std::vector<Device>> {
    if (no_gpu) return *no_gpu;
    auto chosen = chosen_gpus(which, answer.gpus);
    if (!chosen) return chosen.error();
    return devices_of(*chosen);
  };
  if (wanted.empty()) {
    const GpuAnswer gpu = ask_gpu();
    if (gpu.answers) return gpus(gpu, "gpu");
    if (has_vgpu(build)) return only(built_vgpu(kDefaultModel, build));
    return base::Error{base::ErrorKind::kMachine, "",
                       "no GPU answers (" + gpu.problem + "), and the virtual GPU is not built",
                       "one of the two", "membound doctor"};
  }
  if (wanted == "gpu" || wanted.starts_with("gpu:")) {
    const GpuAnswer gpu = ask_gpu();
    if (gpu.answers) return gpus(gpu, wanted);
    return base::Error{base::ErrorKind::kMachine, "--device " + wanted,
                       "no GPU answers: " + gpu.problem, "an NVIDIA GPU with its driver",
                       "--device vgpu, or membound doctor"};
  }
  if (wanted == "vgpu") return only(built_vgpu(kDefaultModel, build));
  const std::string model = wanted.starts_with("vgpu:") ? wanted.substr(5) : "";
  if (model.empty()) return unknown_device(wanted);
  return only(built_vgpu(model, build));
}

base::Result<Device> choose_device(const std::string& wanted, const fs::path& build,
                                   const std::optional<base::Error>& no_gpu) {
  auto all = choose_devices(wanted, build, no_gpu);
  if (!all) return all.error();
  return std::move(all->front());
}

}  // namespace membound::judge
