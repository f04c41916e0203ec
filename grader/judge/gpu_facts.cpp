// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/gpu_facts.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>
#include <tuple>

#include "grader/base/files.hpp"
#include "grader/base/result.hpp"
#include "grader/device_code/compilers/compiler.hpp"
#include "grader/device_code/cuda_api/driver.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::judge {
namespace {

namespace fs = std::filesystem;

template <typename Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// CUdevice_attribute.
enum DriverAttribute { kSmCount = 16, kComputeMode = 20, kMajor = 75, kMinor = 76 };

/// NVML (libnvidia-ml.so.1), which tells without a context, and so without taking the GPU, what its
/// memory and its processes are. It may be missing in a container.
class Nvml {
 public:
  Nvml() {
    void* const opened = cuda_api::open_library("libnvidia-ml.so.1");
    int (*init)() = nullptr;
    has_ = opened != nullptr && look_up(opened, "nvmlInit_v2", init) &&
           look_up(opened, "nvmlShutdown", shutdown_) &&
           look_up(opened, "nvmlSystemGetDriverVersion", version_) &&
           look_up(opened, "nvmlDeviceGetHandleByPciBusId_v2", find_) &&
           look_up(opened, "nvmlDeviceGetMemoryInfo", memory_) && init() == 0;
    if (has_ && !look_up(opened, "nvmlDeviceGetComputeRunningProcesses_v3", processes_))
      look_up(opened, "nvmlDeviceGetComputeRunningProcesses_v2", processes_);
  }
  ~Nvml() {
    if (has_) shutdown_();
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] std::string driver_version() const {
    std::array<char, 96> text{};
    return has_ && version_(text.data(), text.size()) == 0 ? text.data() : "";
  }

  void ask(const char* bus_id, GpuFacts& gpu) const {
    void* device = nullptr;
    if (!has_ || find_(bus_id, &device) != 0) return;
    struct {
      unsigned long long total = 0, free = 0, used = 0;
    } memory;
    if (memory_(device, &memory) == 0) gpu.free_bytes = memory.free;
    unsigned count = 0;
    constexpr int kNoRoom = 7;  // NVML_ERROR_INSUFFICIENT_SIZE: there are some
    gpu.is_in_use = processes_ != nullptr && processes_(device, &count, nullptr) == kNoRoom;
  }

 private:
  bool has_ = false;
  int (*shutdown_)() = nullptr;
  int (*version_)(char*, unsigned) = nullptr;
  int (*find_)(const char*, void**) = nullptr;
  int (*memory_)(void*, void*) = nullptr;
  int (*processes_)(void*, unsigned*, void*) = nullptr;
};

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

GpuFacts facts_of(const cuda_api::Functions& driver, const Nvml& nvml, int ordinal) {
  GpuFacts gpu;
  std::array<char, 128> text{};
  const int room = static_cast<int>(text.size());
  if (driver.cuDeviceGetName(text.data(), room, ordinal) == 0) gpu.name = text.data();
  std::array<unsigned char, 16> uuid{};
  if (driver.cuDeviceGetUuid != nullptr && driver.cuDeviceGetUuid(uuid.data(), ordinal) == 0)
    gpu.uuid = uuid_text(uuid);
  const auto attribute = [&](DriverAttribute which) {
    int value = 0;
    return driver.cuDeviceGetAttribute(&value, which, ordinal) == 0 ? value : 0;
  };
  gpu.capability = 10 * attribute(kMajor) + attribute(kMinor);
  gpu.sm_count = attribute(kSmCount);
  gpu.mode = static_cast<ComputeMode>(attribute(kComputeMode));
  std::size_t bytes = 0;
  if (driver.cuDeviceTotalMem_v2(&bytes, ordinal) == 0) gpu.memory_bytes = bytes;
  if (driver.cuDeviceGetPCIBusId != nullptr &&
      driver.cuDeviceGetPCIBusId(text.data(), room, ordinal) == 0) {
    gpu.number = device_number(text.data());
    nvml.ask(text.data(), gpu);
  }
  return gpu;
}

std::string version_text(int cuda) {
  return std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
}

}  // namespace

std::string GpuAnswer::driver_text() const {
  return "driver " + (driver.empty() ? "" : driver + " ") + "for CUDA " + version_text(cuda);
}

GpuAnswer ask_gpu(const fs::path& devices) {
  GpuAnswer answer;
  std::error_code error;
  // Without its device files the driver cannot work, and its library takes long to find that out.
  answer.has_device =
      fs::exists(devices / "nvidiactl", error) || fs::exists(devices / "dxg", error);
  if (!answer.has_device) {
    answer.problem = "no NVIDIA device on this machine";
    return answer;
  }
  void* const library = cuda_api::open_library("libcuda.so.1");
  cuda_api::Functions driver;
  if (library != nullptr) driver.load(library);  // an old driver has not all
  if (driver.cuInit == nullptr || driver.cuDeviceGetCount == nullptr ||
      driver.cuDriverGetVersion == nullptr || driver.cuDeviceGetName == nullptr ||
      driver.cuDeviceGetAttribute == nullptr || driver.cuDeviceTotalMem_v2 == nullptr) {
    answer.problem = "an NVIDIA device is there, but no driver library (libcuda.so.1)";
    return answer;
  }
  int count = 0;
  int code = driver.cuInit(0);
  if (code == 0) code = driver.cuDeviceGetCount(&count);
  if (code != 0 || count == 0) {
    answer.problem = error_of(code == 0 ? 100 : code);
    return answer;
  }
  const Nvml nvml;
  driver.cuDriverGetVersion(&answer.cuda);
  answer.driver = nvml.driver_version();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    answer.gpus.push_back(facts_of(driver, nvml, ordinal));
    answer.gpus.back().is_one_of_several = count > 1;
  }
  answer.answers = true;
  return answer;
}

namespace {

/// What our runtime for GPUs calls is in the drivers of CUDA 12 (grader/gpu_runtime), and clang's
/// code, which is for every card that such a driver takes, uses doubles in atomics.
constexpr int kOldestCuda = 12000;
constexpr const char* kOldestDriver = "525";
constexpr int kOldestCapability = compilers::kOldestCard;
/// Inputs and outputs of the largest timed case, and what a context, the code and the buffer that
/// flushes the L2 cache take besides.
constexpr std::uint64_t kNeededMemory = (2048 + 512) * std::uint64_t{1 << 20};

std::string capability_text(int capability) {
  return std::to_string(capability / 10) + "." + std::to_string(capability % 10);
}

std::string gigabytes(std::uint64_t bytes) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f GB", static_cast<double>(bytes) / 1e9);
  return text.data();
}

GpuNeed memory_need(const GpuFacts& gpu) {
  const std::uint64_t free_bytes = gpu.free_bytes.value_or(gpu.memory_bytes);
  return {"memory", free_bytes >= kNeededMemory,
          gigabytes(free_bytes) + " of " + gigabytes(gpu.memory_bytes) + " are free",
          gigabytes(kNeededMemory),
          gpu.memory_bytes < kNeededMemory ? "use another card: all of this one's is too little"
                                           : "end what uses it: nvidia-smi lists who does"};
}

GpuNeed mode_need(const GpuFacts& gpu) {
  GpuNeed need{"mode", true, "compute mode Default", "mode Default", "sudo nvidia-smi -c DEFAULT"};
  if (gpu.mode == ComputeMode::kProhibited) {
    need.is_met = false;
    need.found = "compute mode Prohibited";
  } else if (gpu.mode == ComputeMode::kOneProcess) {
    need.is_met = !gpu.is_in_use;
    need.found = "compute mode Exclusive_Process and " +
                 std::string(gpu.is_in_use ? "another program" : "nobody") + " on it";
    need.mend = "wait until the other program has ended, or " + need.mend;
  }
  return need;
}

}  // namespace

std::vector<GpuNeed> needs_of(const GpuFacts& gpu, const GpuAnswer& answer) {
  const std::string driver = std::string("driver ") + kOldestDriver + " or newer";
  return {{"compute", gpu.capability >= kOldestCapability,
           "compute capability " + capability_text(gpu.capability),
           capability_text(kOldestCapability) + " or newer (Pascal and later)", "use a newer card"},
          {"driver", answer.cuda >= kOldestCuda, answer.driver_text(),
           driver + " (CUDA " + version_text(kOldestCuda) + ")",
           "install " + driver + ", or ask whoever runs this machine to"},
          mode_need(gpu),
          memory_need(gpu)};
}

std::optional<GpuNeed> unmet_need(const GpuFacts& gpu, const GpuAnswer& answer) {
  for (GpuNeed& need : needs_of(gpu, answer))
    if (!need.is_met) return std::move(need);
  return std::nullopt;
}

std::string nearest_model(const GpuFacts& gpu) {
  using Distance = std::tuple<bool, int, double>;
  const auto apart = [](double one, double other) {
    return one > 0 && other > 0 ? std::abs(std::log(one / other)) : 0;
  };
  std::optional<std::pair<Distance, std::string>> nearest;
  for (const vgpu::timing::MachineFile& file : vgpu::timing::machine_files({})) {
    const auto machine = vgpu::timing::machine_of(file);
    if (!machine) continue;
    const int capability = static_cast<int>(10 * machine->compute_major + machine->compute_minor);
    const Distance distance{
        machine->name != gpu.name, std::abs(capability - gpu.capability),
        apart(machine->sm_count, gpu.sm_count) + apart(static_cast<double>(machine->memory_bytes),
                                                       static_cast<double>(gpu.memory_bytes))};
    if (!nearest || distance < nearest->first) nearest = {distance, file.id};
  }
  MEMBOUND_CHECK(nearest.has_value());  // some are built in
  return nearest->second;
}

}  // namespace membound::judge
