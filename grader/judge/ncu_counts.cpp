// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
#include "grader/judge/ncu_counts.hpp"

#include <algorithm>
#include <cmath>

#include "grader/course/json_io.hpp"
#include "grader/course/lab_result.hpp"
#include "grader/judge/counters_profile.hpp"
#include "grader/vgpu/advice/advice.hpp"
#include "grader/vgpu/counters/counters.hpp"

namespace membound::judge {
namespace {

using nlohmann::json;
using vgpu::counters::all_counters;
using vgpu::counters::BlockWork;
using vgpu::counters::Counters;
using vgpu::counters::LaunchCounters;
using vgpu::timing::LaunchShape;
using Counter = std::uint64_t Counters::*;

/// Rows that ncu does not count and that are a part of one that it does, or come with it: they
/// shrink and grow with that.
constexpr std::pair<Counter, Counter> kParts[] = {
    {&Counters::global_load_ideal_sectors, &Counters::global_load_sectors},
    {&Counters::global_load_run_sectors, &Counters::global_load_sectors},
    {&Counters::global_store_ideal_sectors, &Counters::global_store_sectors},
    {&Counters::global_store_run_sectors, &Counters::global_store_sectors},
    {&Counters::global_store_lines, &Counters::global_store_sectors},
    {&Counters::partial_store_sectors, &Counters::global_store_sectors},
    {&Counters::shared_load_ideal_wavefronts, &Counters::shared_load_wavefronts},
    {&Counters::ptx_shared_load_requests, &Counters::shared_load_requests},
    {&Counters::ptx_shared_load_wavefronts, &Counters::shared_load_wavefronts},
    {&Counters::ptx_shared_load_ideal_wavefronts, &Counters::shared_load_wavefronts},
    {&Counters::ptx_shared_store_requests, &Counters::shared_store_requests},
    {&Counters::ptx_shared_store_wavefronts, &Counters::shared_store_wavefronts},
    {&Counters::ptx_shared_store_ideal_wavefronts, &Counters::shared_store_wavefronts},
    {&Counters::ptx_shared_wavefronts, &Counters::shared_wavefronts},
    {&Counters::ptx_ideal_shared_wavefronts, &Counters::ideal_shared_wavefronts},
    {&Counters::shared_store_ideal_wavefronts, &Counters::shared_store_wavefronts},
    {&Counters::partial_local_store_sectors, &Counters::local_store_sectors},
    {&Counters::local_load_rounds, &Counters::local_load_requests},
    {&Counters::l1_load_joined_sectors, &Counters::l1_load_hit_sectors},
    {&Counters::l2_waiting_sectors, &Counters::l2_read_sectors},
    {&Counters::dram_fetched_pieces, &Counters::dram_read_bytes},
    {&Counters::dram_lone_pieces, &Counters::dram_read_bytes}};

base::Error other_launches(std::string found, std::string expected) {
  return {base::ErrorKind::kInput, "ncu's table", std::move(found), std::move(expected), ""};
}

template <typename Counts>
Counts read_counts(const json& in) {
  Counts counts;
  for (const auto& row : all_counters())
    course::read_field(in, std::string(row.name).c_str(), counts.*row.member);
  return counts;
}

vgpu::Dim3 dim3_of(const json& in) {
  return {in.at(0).get<std::uint32_t>(), in.at(1).get<std::uint32_t>(),
          in.at(2).get<std::uint32_t>()};
}

LaunchCounters counters_of(const json& kernel) {
  LaunchCounters all;
  all.totals = read_counts<Counters>(kernel.at("counters"));
  for (const json& line : kernel.at("lines"))
    all.lines.push_back(
        {line.at("file"), line.at("line"), read_counts<Counters>(line.at("counters"))});
  const json& work = kernel.at("work");
  for (const json& fields : work.at("kinds")) {
    BlockWork block;
    for (std::size_t i = 0; i < std::size(vgpu::counters::kBlockWorkFields); ++i)
      block.*vgpu::counters::kBlockWorkFields[i] = fields.at(i).get<std::uint64_t>();
    all.work.kinds.push_back(block);
  }
  for (const json& run : work.at("runs"))
    all.work.runs.push_back({run.at(0).get<std::size_t>(), run.at(1).get<std::uint64_t>()});
  work.at("instructions").get_to(all.work.instructions);
  return all;
}

LaunchShape shape_of(const json& kernel) {
  return {dim3_of(kernel.at("grid")),
          dim3_of(kernel.at("block")),
          kernel.at("registers_per_thread"),
          kernel.at("shared_bytes"),
          1,
          kernel.at("work").at("constant_bytes")};
}

void put_counts(const NcuLaunch& launch, Counters& totals) {
  const Counters before = totals;
  for (std::size_t i = 0; i < all_counters().size(); ++i)
    if (i < launch.counts.size() && launch.counts[i])
      totals.*all_counters()[i].member = *launch.counts[i];
  for (const auto& [part, whole] : kParts) {
    if (before.*whole == 0) continue;
    const double share = static_cast<double>(totals.*whole) / static_cast<double>(before.*whole);
    totals.*part =
        static_cast<std::uint64_t>(std::round(static_cast<double>(totals.*part) * share));
  }
}

/// Whether this is the launch that ncu saw; a text for a message where it is not.
std::string difference(const json& kernel, const NcuLaunch& launch) {
  const auto extent = [](const auto& e) {
    return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
  };
  std::array<std::int64_t, 3> grid{}, block{};
  course::read_field(kernel, "grid", grid);
  course::read_field(kernel, "block", block);
  const std::string name = course::text_or_empty(kernel, "name");
  if (name != launch.kernel) return launch.kernel + " where " + name + " was launched";
  if (grid != launch.grid || block != launch.block)
    return extent(launch.grid) + " blocks of " + extent(launch.block) + " threads where " +
           extent(grid) + " of " + extent(block) + " were launched";
  return "";
}

/// One launch, predicted again.
base::Status predict_again(const NcuLaunch& launch, const vgpu::timing::Machine& machine,
                           json& kernel) {
  using vgpu::timing::Prediction;
  constexpr double kSame = 1e-6;  // of a time
  LaunchCounters counters = counters_of(kernel);
  const LaunchShape shape = shape_of(kernel);
  const double before = kernel.at("predicted_ns");
  if (std::abs(predict(machine, counters, shape).ns - before) > kSame * before)
    return base::Error{base::ErrorKind::kInput, "the clock of " + machine.id,
                       "does not repeat its own prediction of " + launch.kernel, "", ""};
  put_counts(launch, counters.totals);
  const Prediction prediction = predict(machine, counters, shape);
  kernel["counters"] = json::parse(to_json(counters.totals, false));
  kernel["predicted_ns"] = prediction.ns;
  kernel["bound"] = to_string(prediction.binding);
  kernel["bounds"] = json::array();
  for (const vgpu::timing::Bound& bound : prediction.bounds)
    if (bound.ns > 0)
      kernel["bounds"].push_back({{"name", to_string(bound.kind)}, {"ns", bound.ns}});
  kernel["advice"] = json::array();
  for (const vgpu::advice::Advice& one :
       vgpu::advice::advise(machine, counters, shape, prediction)) {
    const vgpu::counters::RuleInfo& rule = *one.rule;
    const auto row = static_cast<std::size_t>(vgpu::counters::find_counter(rule.counter) -
                                              all_counters().data());
    kernel["advice"].push_back(course::SpeedAdvice{
        std::string(rule.name), std::string(rule.fault), one.speedup, one.what,
        std::string(rule.counter), one.value, one.file, static_cast<int>(one.line),
        std::string(rule.remedy), std::string(rule.handout), std::string(rule.section),
        launch.counts[row] ? "ncu" : "virtual GPU"});
  }
  return base::Done{};
}

}  // namespace

std::vector<const json*> own_launches(const json& report) {
  std::vector<const json*> own;
  const auto kernels = report.is_object() ? report.find("kernels") : report.end();
  if (kernels == report.end() || !kernels->is_array()) return own;
  for (const json& kernel : *kernels)
    if (!is_harness_kernel(kernel_name(kernel))) own.push_back(&kernel);
  return own;
}

base::Result<json> with_ncu_counts(json report, const std::vector<NcuLaunch>& launches,
                                   const vgpu::timing::Machine& machine) {
  const std::vector<const json*> own = own_launches(report);
  if (own.size() != launches.size())
    return other_launches(std::to_string(launches.size()) + " launches",
                          std::to_string(own.size()) + ", as on the virtual GPU");
  try {
    auto launch = launches.begin();
    for (json& kernel : report["kernels"]) {
      if (is_harness_kernel(kernel_name(kernel))) continue;
      if (std::string found = difference(kernel, *launch); !found.empty())
        return other_launches(std::move(found), "the launches of the virtual GPU");
      if (const auto done = predict_again(*launch, machine, kernel); !done) return done.error();
      ++launch;
    }
  } catch (const json::exception& error) {
    return base::Error{base::ErrorKind::kInternal, "the virtual GPU's report", error.what(), "",
                       ""};
  }
  return report;
}

}  // namespace membound::judge
