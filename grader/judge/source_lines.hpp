// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The virtual GPU's counters -> what each line of kernel.cu costs per request.
/// Place in the chain: counters JSON -> [source_lines] -> verdict, report.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "grader/course/result.hpp"

namespace membound::judge {

/// One row per line and kind of access, of every launch in `counters` ({"kernels": […]}) that is
/// not the harness's own, in the order of the file. Empty where there are no counters.
[[nodiscard]] std::vector<course::SourceLine> source_lines(const nlohmann::json& counters);

/// How much of the machine each access kind needs in all: requests times units, summed over lines.
/// `access` as in SourceLine.
[[nodiscard]] double units_per_request(const std::vector<course::SourceLine>& lines,
                                       std::string_view access);

}  // namespace membound::judge
