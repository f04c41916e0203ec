// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/gpus.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "grader/base/files.hpp"

namespace membound::judge {
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

}  // namespace membound::judge
