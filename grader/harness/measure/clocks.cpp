// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/harness/measure/clocks.hpp"

#include <dlfcn.h>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <utility>

#include "grader/base/older_systems.hpp"
#include "grader/harness/cases/statistics.hpp"

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

namespace {

constexpr double kShare = 0.05;
constexpr double kSigmas = 3;
/// What one call through a runner's socket costs, and so how well the way can be known: E7 of
/// grader/gpu_truth/records/grading_strangers.md.
constexpr double kWayNs = 10e3;
/// Standard deviations per median absolute deviation of a normal distribution.
constexpr double kSigmaPerMad = 1.4826;

double spread(const std::vector<double>& values) {
  const double middle = median(values);
  std::vector<double> away;
  for (const double value : values) away.push_back(std::abs(value - middle));
  return kSigmaPerMad * median(away);
}

}  // namespace

ClockComparison compare_clocks(const std::vector<double>& event_ns, const OutsideSamples& samples) {
  const double device_ns = median(event_ns);
  ClockComparison comparison;
  comparison.outside_ns = median(samples.work_wall_ns) - median(samples.nothing_wall_ns) +
                          median(samples.nothing_event_ns);
  // Independent samples: the variances add up.
  const double sigma =
      base::hypotenuse(spread(samples.work_wall_ns), spread(samples.nothing_wall_ns));
  comparison.tolerance_ns = std::max({kShare * device_ns, kSigmas * sigma, kWayNs});
  comparison.agrees = std::abs(comparison.outside_ns - device_ns) <= comparison.tolerance_ns;
  return comparison;
}

std::string disagreement_text(double event_ns, const ClockComparison& comparison) {
  char text[200];
  std::snprintf(text, sizeof(text),
                "the device says that a run takes %.1f us, a clock outside of it says %.1f us, and "
                "they may differ by %.1f us",
                event_ns / 1e3, comparison.outside_ns / 1e3, comparison.tolerance_ns / 1e3);
  return text;
}

}  // namespace membound::harness
