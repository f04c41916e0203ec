// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// The virtual GPU's counters -> one profile for each kernel.
/// Place in the chain: counters JSON -> [counters_profile] -> verdict, cli (dev figure), report.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

/// One profile for each kernel, launch shape and timed case in `counters` ({"kernels": […]}), in
/// the order of their first launch; the harness's own are left out. Empty where there are none.
[[nodiscard]] std::vector<course::KernelProfile> profiles(const nlohmann::json& counters);

}  // namespace membound::judge
