// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/counters_profile.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>

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

std::vector<const nlohmann::json*> kernels_of_first_case(const nlohmann::json& counters) {
  std::vector<const nlohmann::json*> of_case;
  std::optional<std::string> first_case;
  const auto kernels = counters.find("kernels");
  if (kernels == counters.end()) return of_case;
  for (const nlohmann::json& kernel : *kernels) {
    if (!kernel.is_object() || is_harness_kernel(kernel_name(kernel)) ||
        !kernel.contains("counters"))
      continue;
    const std::string label = course::text_or_empty(kernel, "case");
    if (!first_case) first_case = label;
    if (label == *first_case) of_case.push_back(&kernel);
  }
  return of_case;
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

namespace {

/// Which counters (grader/vgpu/counters/counters.def) make up one kind of access.
struct Access {
  const char* name;
  const char* unit;
  const char* requests;
  const char* units;
  const char* ideal;  // null: there is no ideal to compare with
};

constexpr std::array<Access, 10> kAccesses = {{
    {"load", "sectors", "global_load_requests", "global_load_sectors", "global_load_ideal_sectors"},
    {"store", "sectors", "global_store_requests", "global_store_sectors",
     "global_store_ideal_sectors"},
    {"atomic", "sectors", "atomic_requests", "atomic_sectors", nullptr},
    {"reduction", "sectors", "reduction_requests", "reduction_sectors", nullptr},
    {"shared load", "wavefronts", "shared_load_requests", "shared_load_wavefronts",
     "shared_load_ideal_wavefronts"},
    {"shared store", "wavefronts", "shared_store_requests", "shared_store_wavefronts",
     "shared_store_ideal_wavefronts"},
    {"local load", "sectors", "local_load_requests", "local_load_sectors", nullptr},
    {"local store", "sectors", "local_store_requests", "local_store_sectors", nullptr},
    // One word for all lanes of a request is what a constant load is for.
    {"constant load", "words", "constant_load_requests", "constant_load_words",
     "constant_load_requests"},
    {"texture fetch", "sectors", "texture_instructions", "texture_sectors", nullptr},
}};

constexpr std::size_t kSharedLoad = 4, kSharedStore = 5;  ///< in kAccesses
constexpr const char* kInPtx = " (as PTX has it)";

struct Sum {
  double requests = 0;
  double units = 0;
  double ideal = 0;
  bool in_ptx = false;  ///< a launch's machine code was to be counted and is not known
};

/// "float" of "void transpose<float>(float*, float const*, int, int)".
std::string instance_of(const std::string& name) {
  const std::string before = name.substr(0, name.find('('));
  const auto open = before.find('<');
  const auto close = before.rfind('>');
  if (open == std::string::npos || close == std::string::npos || close < open) return "";
  return before.substr(open + 1, close - open - 1);
}

}  // namespace

std::vector<course::SourceLine> source_lines(const json& counters, CountedBy by) {
  const auto count = by == CountedBy::kPtx ? counted_in_ptx : counted;
  std::map<std::tuple<std::string, int, std::string, std::size_t>, Sum> sums;
  if (!counters.is_object() || !counters.contains("kernels")) return {};
  for (const json& kernel : counters["kernels"]) {
    const std::string name = kernel_name(kernel);
    if (!kernel.is_object() || is_harness_kernel(name) || !kernel.contains("lines")) continue;
    const std::string instance = instance_of(name);
    const bool in_ptx =
        by == CountedBy::kMachineCode && course::text_or_empty(kernel, "shared_accesses") == "PTX";
    for (const json& line : kernel["lines"]) {
      if (!line.is_object() || !line.contains("counters")) continue;
      const std::string file = course::text_or_empty(line, "file");
      const auto number_of_line = static_cast<int>(course::number_or_zero(line, "line", 0, 1e9));
      const json& counters_of_line = line["counters"];
      for (std::size_t i = 0; i < kAccesses.size(); ++i) {
        const double requests = count(counters_of_line, kAccesses[i].requests);
        if (requests <= 0) continue;
        Sum& sum = sums[{file, number_of_line, instance, i}];
        sum.requests += requests;
        sum.in_ptx = sum.in_ptx || (in_ptx && (i == kSharedLoad || i == kSharedStore));
        sum.units += count(counters_of_line, kAccesses[i].units);
        if (kAccesses[i].ideal != nullptr) sum.ideal += count(counters_of_line, kAccesses[i].ideal);
      }
    }
  }
  std::vector<course::SourceLine> all;
  for (const auto& [place, sum] : sums) {
    const auto& [file, line, instance, index] = place;
    const std::string unit = std::string(kAccesses[index].unit) + (sum.in_ptx ? kInPtx : "");
    all.push_back({file, line, instance, kAccesses[index].name, unit,
                   static_cast<std::uint64_t>(sum.requests), sum.units / sum.requests,
                   sum.ideal / sum.requests});
  }
  return all;
}

double units_per_request(const std::vector<course::SourceLine>& lines, std::string_view instance,
                         std::string_view access) {
  double units = 0;
  double requests = 0;
  for (const course::SourceLine& line : lines) {
    if (line.access != access || line.instance != instance) continue;
    units += line.per_request * static_cast<double>(line.requests);
    requests += static_cast<double>(line.requests);
  }
  return requests > 0 ? units / requests : 0;
}

}  // namespace membound::judge
