// SPDX-FileCopyrightText: The Membound authors
// SPDX-License-Identifier: Apache-2.0
/// @file
/// Libraries that a program asks the loader for and that work on a GPU only: named before the
/// loader fails at them. Place in the chain: run -> [gpu_libraries].
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/base/result.hpp"

namespace membound::cli {

/// Why a program that needs `libraries` cannot run on the virtual GPU, and what works instead.
[[nodiscard]] std::optional<base::Error> needs_a_gpu(const std::string& program,
                                                     const std::vector<std::string>& libraries);

}  // namespace membound::cli
