// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/access_traces.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "grader/course/json_io.hpp"
#include "grader/judge/counters_profile.hpp"

namespace membound::judge {
namespace {

using course::StageMeasurement;
using nlohmann::json;

/// Number of the case, name of the kernel, how many of that name came before it in the case.
using KernelPlace = std::tuple<std::size_t, std::string, int>;

/// The kernels of a stage's counters, each with its place; the harness's own are left out.
template <typename Json>
std::vector<std::pair<KernelPlace, Json*>> placed_kernels(Json& counters) {
  std::vector<std::pair<KernelPlace, Json*>> all;
  if (!counters.is_object() || !counters.contains("kernels")) return all;
  std::vector<std::string> cases;
  std::map<std::pair<std::size_t, std::string>, int> seen;
  for (Json& kernel : counters["kernels"]) {
    const std::string name = kernel_name(kernel);
    if (is_harness_kernel(name)) continue;
    const std::string label = course::text_or_empty(kernel, "case");
    auto of_case = std::find(cases.begin(), cases.end(), label);
    if (of_case == cases.end()) of_case = cases.insert(of_case, label);
    const auto number = static_cast<std::size_t>(of_case - cases.begin());
    all.emplace_back(KernelPlace(number, name, seen[{number, name}]++), &kernel);
  }
  return all;
}

bool was_timed(const StageMeasurement& measurement) {
  return measurement.counters.is_object() && measurement.counters.contains("kernels");
}

}  // namespace

void put_traces(const json& traced, json& counters) {
  std::map<KernelPlace, const json*> traces;
  for (const auto& [place, kernel] : placed_kernels(traced))
    if (kernel->contains("accesses")) traces.emplace(place, kernel);
  for (const auto& [place, kernel] : placed_kernels(counters)) {
    const auto found = traces.find(place);
    if (found == traces.end()) continue;
    for (const char* field : {"accesses", "traced_block", "traced_warp"})
      if (found->second->contains(field)) (*kernel)[field] = (*found->second)[field];
    (*kernel)["traced_case"] = course::text_or_empty(*found->second, "case");
  }
}

void add_traces(const RunRequest& run, std::vector<StageMeasurement>& measurements) {
  RunRequest again = run;
  again.environment["MEMBOUND_TRACE"] = "on";
  again.environment["MEMBOUND_CACHES"] = "off";  // sectors and wavefronts are told without them
  again.stages.clear();
  std::string filter = "--gtest_filter=";
  for (const StageMeasurement& measurement : measurements) {
    if (!was_timed(measurement)) continue;
    filter += (again.stages.empty() ? "" : ":") + measurement.kernel + "." +
              std::string(to_string(course::BuiltInTest::kSpeed));
    again.stages.push_back(measurement.stage);
  }
  if (again.stages.empty()) return;
  again.more_arguments.push_back(std::move(filter));
  const auto outcome = run_stages(again);
  if (!outcome) return;
  for (const StageMeasurement& seen : outcome->measurements)
    for (StageMeasurement& measurement : measurements)
      if (measurement.stage == seen.stage) put_traces(seen.counters, measurement.counters);
}

}  // namespace membound::judge
