// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/vgpu/runtime/device/run_summary.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "grader/base/demangle.hpp"

namespace membound::vgpu::runtime {
namespace {

constexpr std::size_t kMostKernels = 8;
constexpr std::size_t kNameWidth = 40;

std::string duration_text(double ns) {
  const auto [scale, unit] = ns < 1e3   ? std::pair{1.0, "ns"}
                             : ns < 1e6 ? std::pair{1e3, "us"}
                             : ns < 1e9 ? std::pair{1e6, "ms"}
                                        : std::pair{1e9, "s"};
  char text[48];
  std::snprintf(text, sizeof text, "%.3g %s", ns / scale, unit);
  return text;
}

std::string counted(std::uint64_t count, const char* one) {
  const std::string noun = one;
  return std::to_string(count) + " " + noun + (count == 1 ? "" : noun.ends_with("h") ? "es" : "s");
}

}  // namespace

void RunSummary::add(const std::string& kernel, double ns, timing::BoundKind binding) {
  Sum& sum = kernels_[kernel];
  ++sum.launches;
  sum.ns += ns;
  sum.bound_ns[binding] += ns;
}

std::string RunSummary::text(const std::string& device) const {
  std::vector<std::pair<std::string, Sum>> all(kernels_.begin(), kernels_.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  double ns = 0;
  std::uint64_t launches = 0;
  for (const auto& [name, sum] : all) ns += sum.ns, launches += sum.launches;
  if (all.empty()) return "no kernel was launched on the " + device;
  std::string text = counted(all.size(), "kernel") + " in " + counted(launches, "launch") +
                     ", predicted to take " + duration_text(ns) + " on the " + device;
  for (std::size_t i = 0; i < std::min(all.size(), kMostKernels); ++i) {
    const auto& [mangled, sum] = all[i];
    const auto binding =
        std::max_element(sum.bound_ns.begin(), sum.bound_ns.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::string name = base::short_function_name(mangled);
    if (name.size() < kNameWidth) name.resize(kNameWidth, ' ');
    text += "\n  " + name + " " + duration_text(sum.ns) + " in " + counted(sum.launches, "launch") +
            ", bound by " + std::string(timing::to_string(binding->first));
  }
  if (all.size() > kMostKernels)
    text += "\n  and " + counted(all.size() - kMostKernels, "more kernel");
  return text;
}

std::string findings_line(bool looked, std::uint64_t findings) {
  if (looked) return findings == 0 ? "no findings" : counted(findings, "finding");
  return "no checker looked on; `membound run --check all -- PROGRAM` looks for accesses out of "
         "bounds, data races, reads of what nobody wrote, barriers that not all reach, and leaks";
}

}  // namespace membound::vgpu::runtime
