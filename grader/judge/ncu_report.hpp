// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What NVIDIA's profiler prints with `ncu --csv --page raw`, put into the report of a virtual GPU
/// that ran the same launches, whose clock predicts them again: time, bounds and guided analysis
/// then follow from a GPU's own counts. What ncu does not count stays. Which counters it has,
/// counters.def says.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/base/result.hpp"
#include "grader/vgpu/timing/machine.hpp"
#include "grader/vgpu/timing/model.hpp"

namespace membound::judge {

/// One launch.
struct NcuLaunch {
  std::string kernel;  ///< as it was printed: mangled, if ncu was asked for that
  std::array<std::int64_t, 3> grid{}, block{};
  /// In the order of vgpu::counters::all_counters(); nothing where ncu has no such number.
  std::vector<std::optional<std::uint64_t>> counts;
};

/// Whether ncu's number can stand for a row of counters.def.
[[nodiscard]] bool is_counted_by_ncu(std::string_view counter);

/// What to ask for, "dram__bytes_read.sum,…".
[[nodiscard]] std::string ncu_metrics();

/// Reads a log, with what ncu says about itself around the table. An error names row and column:
/// no table, no shape, a count that is none, less than 0 or more than 10^18.
[[nodiscard]] base::Result<std::vector<NcuLaunch>> read_ncu_table(std::string_view log);

/// What ncu itself calls an error, in one line; empty where nothing.
[[nodiscard]] std::string ncu_problem(std::string_view log);

/// What the clock was given of one kernel of a counters file that has its "work"
/// (MEMBOUND_WORK=on). Throws nlohmann::json's exceptions where a part is missing.
[[nodiscard]] vgpu::counters::LaunchCounters launch_counters_of(const nlohmann::json& kernel);
[[nodiscard]] vgpu::timing::LaunchShape launch_shape_of(const nlohmann::json& kernel);

/// The launches of `report` that are the student's: pointers into it.
[[nodiscard]] std::vector<const nlohmann::json*> own_launches(const nlohmann::json& report);

/// `report` ({"kernels": […]}, each with its "work") with these counts. Each advice then says by
/// whom its counter was counted. An error where the launches are not the same, kernel by kernel and
/// shape by shape, or where `machine` does not predict what the report says that it did.
[[nodiscard]] base::Result<nlohmann::json> with_ncu_counts(nlohmann::json report,
                                                           const std::vector<NcuLaunch>& launches,
                                                           const vgpu::timing::Machine& machine);

}  // namespace membound::judge
