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

namespace {

namespace fs = std::filesystem;

/// The functions of the CUDA driver (libcuda.so.1) that are needed to ask for names. They are
/// looked up at run time, because the library is there only where a driver is.
struct Driver {
  using Init = int (*)(unsigned);
  using GetInt = int (*)(int*);
  using GetText = int (*)(char*, int, int);
  using GetUuid = int (*)(unsigned char*, int);
  Init init = nullptr;
  GetInt device_count = nullptr;
  GetInt driver_version = nullptr;
  GetText device_name = nullptr;
  GetText bus_id = nullptr;
  GetUuid uuid = nullptr;
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

/// As CUDA_VISIBLE_DEVICES takes it: "GPU-" and 32 digits in groups.
std::string uuid_text(const std::array<unsigned char, 16>& bytes) {
  std::string text = "GPU-";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    char digits[3];
    std::snprintf(digits, sizeof(digits), "%02x", bytes[i]);
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}

/// The driver lists its GPUs below this folder by bus; "Device Minor: 3" is their file's number.
int device_number(std::string bus_id) {
  for (char& c : bus_id) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto text = base::read_file(fs::path("/proc/driver/nvidia/gpus") / bus_id / "information");
  constexpr std::string_view kLabel = "Device Minor:";
  const auto label = text ? text->find(kLabel) : std::string::npos;
  if (label == std::string::npos) return -1;
  const auto digits = text->find_first_of("0123456789", label + kLabel.size());
  int number = -1;
  if (digits != std::string::npos)
    std::from_chars(text->data() + digits, text->data() + text->size(), number);
  return number;
}

GpuFacts facts_of(const Driver& driver, int ordinal) {
  GpuFacts gpu;
  std::array<char, 128> text{};
  if (driver.device_name(text.data(), static_cast<int>(text.size()), ordinal) == 0)
    gpu.name = text.data();
  if (driver.bus_id != nullptr &&
      driver.bus_id(text.data(), static_cast<int>(text.size()), ordinal) == 0)
    gpu.number = device_number(text.data());
  std::array<unsigned char, 16> uuid{};
  if (driver.uuid != nullptr && driver.uuid(uuid.data(), ordinal) == 0) gpu.uuid = uuid_text(uuid);
  return gpu;
}

std::string list_of(const std::vector<GpuFacts>& gpus) {
  std::string list;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(i) + " (" + gpus[i].name + ")";
  return list;
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
  look_up(library, "cuDeviceGetPCIBusId", driver.bus_id);
  look_up(library, "cuDeviceGetUuid", driver.uuid);
  int count = 0;
  int code = driver.init(0);
  if (code == 0) code = driver.device_count(&count);
  if (code != 0 || count == 0) {
    answer.problem = error_of(code == 0 ? 100 : code);
    return answer;
  }
  int version = 0;
  driver.driver_version(&version);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    answer.gpus.push_back(facts_of(driver, ordinal));
    answer.gpus.back().is_one_of_several = count > 1;
  }
  answer.answers = true;
  answer.driver = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  return answer;
}

base::Result<std::vector<GpuFacts>> chosen_gpus(const std::string& wanted,
                                                const std::vector<GpuFacts>& gpus) {
  if (wanted == "gpu") return gpus;
  const auto refused = [&](const std::string& found) {
    return base::Error{base::ErrorKind::kUsage, "--device " + wanted, found,
                       "numbers of GPUs behind gpu: and commas between, as in gpu:0,1",
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
    if (*stopped != ',') return refused("has something other than a comma behind a number");
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
