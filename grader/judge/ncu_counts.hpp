// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Puts what ncu counted into the report of a virtual GPU that ran the same launches, and has its
/// clock predict them again: time, bounds and guided analysis then follow from a GPU's own counts.
/// What ncu does not count (instructions, waits, lines, what the blocks did) stays.
/// Place in the chain: ncu_table, counters JSON -> [ncu_counts] -> measurement.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/judge/ncu_table.hpp"
#include "grader/vgpu/timing/machine.hpp"

namespace membound::judge {

/// The launches of `report` that are the student's: pointers into it.
[[nodiscard]] std::vector<const nlohmann::json*> own_launches(const nlohmann::json& report);

/// `report` ({"kernels": […]}, each with its "work") with these counts. Each advice then says by
/// whom its counter was counted. An error where the launches are not the same, kernel by kernel and
/// shape by shape, or where `machine` does not predict what the report says that it did.
[[nodiscard]] base::Result<nlohmann::json> with_ncu_counts(nlohmann::json report,
                                                           const std::vector<NcuLaunch>& launches,
                                                           const vgpu::timing::Machine& machine);

}  // namespace membound::judge
