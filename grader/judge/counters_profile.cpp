// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/counters_profile.hpp"

#include <algorithm>

#include "grader/course/json_io.hpp"

namespace membound::judge {
namespace {

using course::KernelProfile;
using nlohmann::json;

std::uint64_t counter(const json& counters, const char* name) {
  std::uint64_t value = 0;
  course::read_field(counters, name, value);
  return value;
}

KernelProfile profile_of(const json& kernel) {
  KernelProfile profile;
  profile.name = kernel.value("display_name", kernel.value("name", ""));
  profile.label = kernel.value("case", "");
  course::read_field(kernel, "grid", profile.grid);
  course::read_field(kernel, "block", profile.block);
  course::read_field(kernel, "registers_per_thread", profile.registers);
  course::read_field(kernel, "shared_bytes", profile.shared_bytes);
  course::read_field(kernel, "predicted_ns", profile.predicted_ns);
  course::read_field(kernel, "bound", profile.bound);
  if (const auto occupancy = kernel.find("occupancy"); occupancy != kernel.end()) {
    course::read_field(*occupancy, "blocks_per_sm", profile.blocks_per_sm);
    course::read_field(*occupancy, "theoretical", profile.occupancy);
    course::read_field(*occupancy, "limiter", profile.limiter);
  }
  for (const json& bound : kernel.value("bounds", json::array()))
    profile.bounds.push_back({bound.value("name", ""), bound.value("ns", 0.0)});
  course::read_field(kernel, "advice", profile.advice);
  const json totals = kernel.value("counters", json::object());
  profile.warp_instructions = counter(totals, "warp_instructions");
  if (profile.warp_instructions > 0)
    profile.lanes_per_instruction = static_cast<double>(counter(totals, "thread_instructions")) /
                                    static_cast<double>(profile.warp_instructions);
  profile.dram_bytes = counter(totals, "dram_read_bytes") + counter(totals, "dram_write_bytes");
  for (const json& line : kernel.value("lines", json::array())) {
    const json counters = line.value("counters", json::object());
    profile.lines.push_back({line.value("file", ""), line.value("line", 0),
                             counter(counters, "warp_instructions"), counter(counters, "branches"),
                             counter(counters, "divergent_branches")});
  }
  course::read_field(kernel, "accesses", profile.accesses);
  course::read_field(kernel, "traced_block", profile.traced_block);
  course::read_field(kernel, "traced_warp", profile.traced_warp);
  course::read_field(kernel, "traced_case", profile.traced_label);
  return profile;
}

bool same_launch(const KernelProfile& a, const KernelProfile& b) {
  return a.name == b.name && a.label == b.label && a.grid == b.grid && a.block == b.block;
}

}  // namespace

std::string kernel_name(const json& kernel) {
  const std::string shown = course::text_or_empty(kernel, "display_name");
  return shown.empty() ? course::text_or_empty(kernel, "name") : shown;
}

double counted(const json& counters, const std::string& name) {
  constexpr double kMostCounted = 1e18;  // fits a counter of 64 bits
  return course::number_or_zero(counters, name.c_str(), 0, kMostCounted);
}

double counted_in_ptx(const json& counters, const std::string& name) {
  const std::string in_ptx = "ptx_" + name;
  return counted(counters, counters.is_object() && counters.contains(in_ptx) ? in_ptx : name);
}

bool is_harness_kernel(const std::string& display_name) {
  return display_name.find("membound_") != std::string::npos;
}

std::vector<KernelProfile> profiles(const json& counters) {
  std::vector<KernelProfile> all;
  if (!counters.is_object() || !counters.contains("kernels")) return all;
  for (const json& kernel : counters["kernels"]) {
    if (is_harness_kernel(kernel.value("display_name", kernel.value("name", "")))) continue;
    KernelProfile profile = profile_of(kernel);
    const auto known = std::find_if(all.begin(), all.end(), [&](const KernelProfile& other) {
      return same_launch(other, profile);
    });
    if (known == all.end())
      all.push_back(std::move(profile));
    else
      ++known->launches;
  }
  return all;
}

}  // namespace membound::judge
