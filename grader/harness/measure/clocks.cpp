// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/clocks.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace membound::harness {
namespace {

using NvmlDevice = void*;
constexpr int kNvmlSuccess = 0;
constexpr int kSmClock = 1;  // NVML_CLOCK_SM

template <typename Function>
Function* function_of(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

std::vector<std::string> throttle_words(unsigned long long bits) {
  constexpr std::pair<unsigned long long, const char*> kWords[] = {{0x04, "power cap"},
                                                                   {0x08, "hardware slowdown"},
                                                                   {0x20, "software thermal limit"},
                                                                   {0x40, "hardware thermal limit"},
                                                                   {0x80, "power brake"}};
  std::vector<std::string> words;
  for (const auto& [bit, word] : kWords)
    if ((bits & bit) != 0) words.emplace_back(word);
  return words;
}

/// The loaded library and the functions needed of it.
struct ClockReader::Library {
  struct Close {
    void operator()(void* opened) const { dlclose(opened); }
  };
  std::unique_ptr<void, Close> handle;
  NvmlDevice device = nullptr;
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
  int (*throttle_reasons)(NvmlDevice, unsigned long long*) = nullptr;
  int (*shutdown)() = nullptr;

  ~Library() {
    if (shutdown != nullptr) shutdown();
  }

  /// Null where any part is missing.
  static std::unique_ptr<Library> open(const std::string& pci_bus_id) {
    auto library = std::make_unique<Library>();
    library->handle.reset(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL));
    void* opened = library->handle.get();
    if (opened == nullptr) return nullptr;
    auto* init = function_of<int()>(opened, "nvmlInit_v2");
    auto* find =
        function_of<int(const char*, NvmlDevice*)>(opened, "nvmlDeviceGetHandleByPciBusId_v2");
    library->clock = function_of<int(NvmlDevice, int, unsigned*)>(opened, "nvmlDeviceGetClockInfo");
    library->throttle_reasons = function_of<int(NvmlDevice, unsigned long long*)>(
        opened, "nvmlDeviceGetCurrentClocksThrottleReasons");
    if (init == nullptr || find == nullptr || library->clock == nullptr ||
        library->throttle_reasons == nullptr || init() != kNvmlSuccess)
      return nullptr;
    library->shutdown = function_of<int()>(opened, "nvmlShutdown");
    if (find(pci_bus_id.c_str(), &library->device) != kNvmlSuccess) return nullptr;
    return library;
  }
};

ClockReader::ClockReader(const std::string& pci_bus_id)
    : has_clocks_(!pci_bus_id.empty()),
      library_(pci_bus_id.empty() ? nullptr : Library::open(pci_bus_id)) {}
ClockReader::ClockReader(ClockReader&&) noexcept = default;
ClockReader::~ClockReader() = default;

void ClockReader::sample() {
  if (!library_) return;
  unsigned mhz = 0;
  if (library_->clock(library_->device, kSmClock, &mhz) == kNvmlSuccess) sm_mhz_.push_back(mhz);
  unsigned long long bits = 0;
  if (library_->throttle_reasons(library_->device, &bits) == kNvmlSuccess) throttle_bits_ |= bits;
}

void ClockReader::take(course::Clocks& clocks, std::vector<std::string>& throttle_reasons) {
  if (!sm_mhz_.empty()) {
    const auto [least, most] = std::minmax_element(sm_mhz_.begin(), sm_mhz_.end());
    clocks = {
        *least,
        std::accumulate(sm_mhz_.begin(), sm_mhz_.end(), 0.0) / static_cast<double>(sm_mhz_.size()),
        *most};
  }
  throttle_reasons = throttle_words(std::exchange(throttle_bits_, 0));
  sm_mhz_.clear();
}

}  // namespace membound::harness
