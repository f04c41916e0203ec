// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The virtual GPU's counters -> one profile for each kernel, and what each line of kernel.cu costs
/// per request.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "grader/course/lab_result.hpp"

namespace membound::judge {

/// The readable name of a kernel in a counters file of any origin.
[[nodiscard]] std::string kernel_name(const nlohmann::json& kernel);

/// What `counters` of a kernel or a line, of any origin, says; 0 where it says nothing.
[[nodiscard]] double counted(const nlohmann::json& counters, const std::string& name);

/// The same as the PTX has it, where the counters say that too: what is compared with a bar or with
/// another answer must not depend on whether the machine code is known.
[[nodiscard]] double counted_in_ptx(const nlohmann::json& counters, const std::string& name);

/// Kernels that the harness or LAUNCH_SHAPE brought along are not the student's.
[[nodiscard]] bool is_harness_kernel(const std::string& display_name);

/// The student's kernels in `counters` ({"kernels": […]}) of which something was counted, of the
/// first timed case alone: others do the same work at another size. They live as long as
/// `counters`.
[[nodiscard]] std::vector<const nlohmann::json*> kernels_of_first_case(
    const nlohmann::json& counters);

/// One profile for each kernel, launch shape and timed case in `counters` ({"kernels": […]}), in
/// the order of their first launch; the harness's own are left out. Empty where there are none.
[[nodiscard]] std::vector<course::KernelProfile> profiles(const nlohmann::json& counters);

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
