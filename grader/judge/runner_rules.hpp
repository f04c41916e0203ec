// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// What the runner of a graded submission may use: time, memory, output, and of a GPU the nodes.
/// Place in the chain: check -> [runner_rules] -> split_run. Left out: enforcing it; the jail does.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "grader/base/result.hpp"
#include "grader/sandbox/jail/jail.hpp"

namespace membound::judge {

/// Limits of one runner that may have to work on `stages` stages, each of which the test program
/// waits at most `seconds_per_stage` for. Launches have deadlines of their own (lab.json): these
/// limits are what a submission meets that makes thousands of long ones, or takes memory. Of CPU
/// time they say nothing: DeviceKind::equip() does.
[[nodiscard]] jail::Limits runner_limits(int stages, double seconds_per_stage);

/// Folders of the libraries that the dynamic linker gives `runner`, and of the CUDA driver, as far
/// as they lie outside of what every jail sees: a toolkit and a driver may be installed anywhere.
[[nodiscard]] base::Result<std::vector<std::filesystem::path>> gpu_library_folders(
    const std::filesystem::path& runner);

/// Those of the libraries in what `ldd` prints, in order, each once.
[[nodiscard]] std::vector<std::filesystem::path> library_folders(const std::string& ldd_output);

/// The nodes below `folder` that the CUDA driver opens: its own, and those of all GPUs, or of the
/// one with this number, where it is there. Empty where there are none.
[[nodiscard]] std::vector<std::filesystem::path> gpu_nodes(const std::filesystem::path& folder,
                                                           int gpu_number = -1);

}  // namespace membound::judge
