// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The virtual GPU's counters -> what each line of kernel.cu costs per request.
/// Place in the chain: counters JSON -> [source_lines] -> verdict, report.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "grader/course/lab_result.hpp"

namespace membound::judge {

/// What loads and stores of shared memory are counted by: the machine code, where it is known, for
/// who reads it beside a profiler; the PTX, for what is compared with another answer.
enum class CountedBy { kMachineCode, kPtx };

/// One row per line, template instance and kind of access, of every launch in `counters`
/// ({"kernels": […]}) that is not the harness's own, in the order of the file. Empty where there
/// are no counters. A row of shared accesses whose machine code was to be counted and is not known
/// says so in its unit.
[[nodiscard]] std::vector<course::SourceLine> source_lines(const nlohmann::json& counters,
                                                           CountedBy by = CountedBy::kMachineCode);

/// What one request of this kind takes on average over the lines of one template instance; 0 where
/// there is none. `access` and `instance` as in SourceLine.
[[nodiscard]] double units_per_request(const std::vector<course::SourceLine>& lines,
                                       std::string_view instance, std::string_view access);

}  // namespace membound::judge
