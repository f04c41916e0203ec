// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/device_choice.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include "grader/base/nearest.hpp"
#include "grader/vgpu/timing/machine_files.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libcudart.so.13";

/// The four functions of the CUDA driver (libcuda.so.1) that are needed to ask for a name. They are
/// looked up at run time, because the library is there only where a driver is.
struct Driver {
  using Init = int (*)(unsigned);
  using GetInt = int (*)(int*);
  using GetName = int (*)(char*, int, int);
  Init init = nullptr;
  GetInt device_count = nullptr;
  GetInt driver_version = nullptr;
  GetName device_name = nullptr;
};

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

std::string error_of(int code) {
  switch (code) {
    case 100:
      return "the driver sees no GPU (CUDA_VISIBLE_DEVICES may hide it)";
    case 803:
      return "driver library and kernel module are of different versions";
    default:
      return "the driver does not start (CUDA error " + std::to_string(code) + ")";
  }
}

base::Error no_vgpu(const fs::path& build) {
  return {base::ErrorKind::kMachine, "virtual GPU", "not built",
          (vgpu_folder(build) / kLibrary).string(),
          "start with ./membound, which builds what is missing; or --device gpu"};
}

/// A device that is none, or a virtual one whose machine is not known.
base::Error unknown_device(const std::string& wanted) {
  std::vector<std::string> names = {"gpu", "vgpu"};
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

GpuAnswer ask_gpu() {
  GpuAnswer answer;
  std::error_code error;
  // Without its device files the driver cannot work, and its library takes long to find that out.
  if (!fs::exists("/dev/nvidiactl", error) && !fs::exists("/dev/dxg", error)) {
    answer.problem = "no NVIDIA device on this machine";
    return answer;
  }
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  Driver driver;
  if (library == nullptr || !look_up(library, "cuInit", driver.init) ||
      !look_up(library, "cuDeviceGetCount", driver.device_count) ||
      !look_up(library, "cuDriverGetVersion", driver.driver_version) ||
      !look_up(library, "cuDeviceGetName", driver.device_name)) {
    answer.problem = "an NVIDIA device is there, but no driver library (libcuda.so.1)";
    return answer;
  }
  int count = 0;
  int code = driver.init(0);
  if (code == 0) code = driver.device_count(&count);
  if (code != 0 || count == 0) {
    answer.problem = error_of(code == 0 ? 100 : code);
    return answer;
  }
  std::array<char, 128> name{};
  int version = 0;
  driver.device_name(name.data(), static_cast<int>(name.size()), 0);
  driver.driver_version(&version);
  answer.answers = true;
  answer.name = name.data();
  answer.driver = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  return answer;
}

bool has_vgpu(const fs::path& build) {
  std::error_code error;
  return fs::exists(vgpu_folder(build) / kLibrary, error);
}

base::Result<Device> choose_device(const std::string& wanted, const fs::path& build,
                                   const std::optional<base::Error>& no_gpu) {
  const auto gpu_or_refusal = [&]() -> base::Result<Device> {
    if (no_gpu) return *no_gpu;
    return real_gpu();
  };
  if (wanted.empty()) {
    const GpuAnswer gpu = ask_gpu();
    if (gpu.answers) return gpu_or_refusal();
    if (has_vgpu(build)) return built_vgpu(kDefaultModel, build);
    return base::Error{base::ErrorKind::kMachine, "",
                       "no GPU answers (" + gpu.problem + "), and the virtual GPU is not built",
                       "one of the two", "membound doctor"};
  }
  if (wanted == "gpu") {
    const GpuAnswer gpu = ask_gpu();
    if (gpu.answers) return gpu_or_refusal();
    return base::Error{base::ErrorKind::kMachine, "--device gpu", "no GPU answers: " + gpu.problem,
                       "an NVIDIA GPU with its driver", "--device vgpu, or membound doctor"};
  }
  if (wanted == "vgpu") return built_vgpu(kDefaultModel, build);
  const std::string model = wanted.starts_with("vgpu:") ? wanted.substr(5) : "";
  if (model.empty()) return unknown_device(wanted);
  return built_vgpu(model, build);
}

}  // namespace membound::judge
